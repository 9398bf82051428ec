# Solutions of lesson 02. Between >>> and <<< stands what a learner writes; what follows >>> is
# what the exercise shows in its place.

# %%
from kubequeue.lab.checks import check

# %% exercise-burst
# >>> how_many = ...
how_many = 3
# <<<
check("02/burst", how_many)


# %% exercise-pick
def pick(ready, locked):
    # >>> return ...
    for key in ready:
        if key not in locked:
            return key
    return None
    # <<<


check("02/pick", pick)


# %% exercise-count-rounds
def count_rounds(events, seconds):
    # >>> return ...
    count, start = 0, float("-inf")
    for event in events:
        if event > start:
            start = max(event, start + seconds)
            count += 1
    return count
    # <<<


check("02/count-rounds", count_rounds)
