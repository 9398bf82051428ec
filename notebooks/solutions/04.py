# Solutions of lesson 04. Between >>> and <<< stands what a learner writes; what follows >>> is
# what the exercise shows in its place.

# %%
from kubequeue.lab.checks import check

# %% exercise-surplus
# >>> without, with_it = ..., ...
without, with_it = 4, 1
# <<<
check("04/surplus", (without, with_it))


# %% exercise-met
def is_met(action, found, age):
    # >>> return ...
    if action == "create":
        return found != "nothing" or age > 30
    return found == "nothing"
    # <<<


check("04/met", is_met)


# %% exercise-resume
def resumes_at(recorded, rounds):
    # >>> return ...
    return next((at for at in rounds if at > recorded + 30), None)
    # <<<


check("04/resume", resumes_at)


# %% exercise-memory
def plan(wanted, cached, records, now):
    # >>> return ...
    still_open = {
        name for name, recorded in records.items() if name not in cached and now - recorded <= 30
    }
    return max(wanted - len(cached) - len(still_open), 0), still_open
    # <<<


check("04/memory", plan)
