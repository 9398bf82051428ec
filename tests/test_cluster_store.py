"""The store: versions, generations, names, and who may overwrite whom."""

from __future__ import annotations

import pickle
from collections.abc import Callable
from dataclasses import replace

import pytest
from clusters import Toy, ToySpec, ToyStatus, pod, store, toy, with_meta

from kubequeue.cluster.objects import NamespacedName, Pod, PodStatus, ReadOnlyMap
from kubequeue.errors import (
    AlreadyExistsError,
    APIError,
    BadRequestError,
    ConflictError,
    InvalidError,
    NotFoundError,
)


def test_a_new_object_is_given_what_only_a_server_gives() -> None:
    """A uid, generation 1, the time; what the caller put there counts for nothing."""
    given = with_meta(toy(), uid="mine", generation=7, deletion_timestamp=1.0)
    made = store().create(replace(given, status=ToyStatus(9)))
    meta = made.metadata
    assert (meta.generation, meta.resource_version, meta.creation_timestamp) == (1, "1", 0.0)
    assert meta.deletion_timestamp is None
    assert len(meta.uid) == 36
    assert made.status == ToyStatus()


def test_one_version_for_the_whole_store() -> None:
    """Each write of any kind takes the next version, and the object carries it."""
    kept = store()
    versions = [kept.create(obj).metadata.resource_version for obj in (toy(), pod(), toy("b"))]
    assert versions == ["1", "2", "3"]
    assert kept.resource_version == kept.list(Toy).resource_version == "3"


def test_equal_runs_give_equal_uids_and_names() -> None:
    """They come from the named streams of the simulation, not from chance."""
    first, second = (store().create(toy("", generate_name="a-")) for _ in range(2))
    assert first == second
    assert first.metadata.name[:2] == "a-"
    assert len(first.metadata.name) == 7


@pytest.mark.parametrize("prefix", ["Bad_Name-", "x" * 300, "-", "a.", ".a-"])
def test_what_names_are_generated_from_has_to_be_a_name(prefix: str) -> None:
    """But for one dash at its end, which something comes behind."""
    kept = store()
    with pytest.raises(InvalidError, match=r"metadata\.generateName: Invalid value"):
        kept.create(toy("", generate_name=prefix))
    with pytest.raises(InvalidError, match=r"metadata\.generateName: Invalid value"):
        kept.create(toy("a", generate_name=prefix))


def test_a_generated_name_is_not_taken_twice() -> None:
    """A name that is there already is drawn anew."""
    kept = store()
    names = {kept.create(toy("", generate_name="a-")).metadata.name for _ in range(500)}
    assert len(names) == 500


def test_a_long_prefix_is_cut_for_the_name() -> None:
    """A generated name has 63 characters at most."""
    made = store().create(toy("", generate_name="a" * 100))
    assert len(made.metadata.name) == 63


def test_a_server_gives_up_on_names_that_are_all_taken(monkeypatch: pytest.MonkeyPatch) -> None:
    """After eight tries the error says that no name could be made."""
    kept = store()
    kept.create(toy("a-bbbbb"))
    monkeypatch.setattr(kept._names, "choices", lambda letters, k: ["b"] * k)
    with pytest.raises(AlreadyExistsError, match="not able to generate a unique name"):
        kept.create(toy("", generate_name="a-"))


def test_update_replaces_spec_and_metadata_and_leaves_the_status() -> None:
    """The generation rises with the spec; uid and creation stay."""
    kept = store()
    made = kept.update_status(replace(kept.create(toy()), status=ToyStatus(3)))
    given = replace(with_meta(made, labels={"a": "b"}, generation=40), spec=ToySpec(2))
    after = kept.update(replace(given, status=ToyStatus(9)))
    assert (after.spec, after.status) == (ToySpec(2), ToyStatus(3))
    assert (after.metadata.generation, after.metadata.labels) == (2, {"a": "b"})
    assert after.metadata.uid == made.metadata.uid


def test_labels_do_not_raise_the_generation() -> None:
    """A controller that watches generations does not wake for them."""
    kept = store()
    after = kept.update(with_meta(kept.create(toy()), labels={"a": "b"}))
    assert (after.metadata.generation, after.metadata.resource_version) == (1, "2")


def test_a_status_write_touches_nothing_else() -> None:
    """Neither spec nor labels, and the generation stays."""
    kept = store()
    given = replace(with_meta(kept.create(toy()), labels={"a": "b"}), spec=ToySpec(9))
    after = kept.update_status(replace(given, status=ToyStatus(5)))
    assert (after.spec, after.status) == (ToySpec(1), ToyStatus(5))
    assert (after.metadata.generation, after.metadata.labels) == (1, {})
    assert after.metadata.resource_version == "2"


def test_writing_what_is_there_already_is_no_write() -> None:
    """No version, no event, as in Kubernetes: so a reconciler that repeats itself wakes nobody."""
    kept = store()
    made = kept.create(toy())
    watch = kept.watch(Toy, "", kept.resource_version)
    assert kept.update(made) == kept.update_status(made) == kept.patch(Toy, "team-a/a", lambda t: t)
    assert (kept.resource_version, watch.take()) == ("1", [])


def test_the_second_of_two_writers_is_refused() -> None:
    """Both read version 1; the second to write gets a Conflict, and succeeds once it has read."""
    kept = store()
    read = kept.create(toy())
    kept.update(replace(read, spec=ToySpec(2)))
    for write in (kept.update, kept.update_status):
        with pytest.raises(ConflictError) as caught:
            write(replace(read, spec=ToySpec(3), status=ToyStatus(3)))
        assert str(caught.value) == (
            'Operation cannot be fulfilled on toys.example.com "a": the object has been modified; '
            "please apply your changes to the latest version and try again"
        )
    assert kept.update(replace(kept.get(Toy, "team-a/a"), spec=ToySpec(3))).spec == ToySpec(3)


def test_a_status_write_makes_a_later_spec_write_conflict() -> None:
    """There is one version for the object, not one for each half."""
    kept = store()
    read = kept.create(toy())
    kept.update_status(replace(read, status=ToyStatus(1)))
    with pytest.raises(ConflictError):
        kept.update(replace(read, spec=ToySpec(2)))


def test_an_update_of_another_object_of_the_same_name_is_refused() -> None:
    """The uid that was read counts, also when the version would be right."""
    kept = store()
    read = kept.create(toy())
    kept.delete(Toy, "team-a/a")
    again = kept.create(toy())
    with pytest.raises(ConflictError, match="UID in precondition"):
        kept.update(with_meta(read, resource_version=again.metadata.resource_version))


def test_a_patch_is_made_on_what_is_there() -> None:
    """No version is sent, so nobody's write in between is a reason to refuse."""
    kept = store()
    kept.create(toy())
    kept.patch(Toy, "team-a/a", lambda t: with_meta(t, labels={"a": "1"}))
    after = kept.patch(Toy, "team-a/a", lambda t: replace(t, spec=ToySpec(5), status=ToyStatus(9)))
    assert (after.spec, after.metadata.labels, after.status) == (
        ToySpec(5),
        {"a": "1"},
        ToyStatus(),
    )


def test_a_patch_without_a_version_is_taken() -> None:
    """An object made from nothing has none, and overwrites."""
    kept = store()
    kept.create(toy())
    assert kept.patch(Toy, "team-a/a", lambda _: toy(size=4)).spec == ToySpec(4)


def test_a_patch_that_carries_an_old_version_is_refused() -> None:
    """Then it is checked as an update is."""
    kept = store()
    read = kept.create(toy())
    kept.update(replace(read, spec=ToySpec(2)))
    with pytest.raises(ConflictError):
        kept.patch(Toy, "team-a/a", lambda _: replace(read, spec=ToySpec(3)))


def test_a_patch_cannot_rename_or_make_something_else() -> None:
    """Name and kind are those of the address."""
    kept = store()
    kept.create(toy())
    with pytest.raises(BadRequestError, match="does not match the name on the URL"):
        kept.patch(Toy, "team-a/a", lambda t: with_meta(t, name="b"))
    with pytest.raises(BadRequestError, match="gave back None"):
        kept.patch(Toy, "team-a/a", lambda _: None)  # type: ignore[arg-type, return-value]


def test_lists_are_by_namespace_and_name() -> None:
    """Whatever order they were made in; a namespace and labels narrow them down."""
    kept = store()
    for namespace, name, group in [("b", "x", "1"), ("a", "z", "2"), ("a", "y", "1")]:
        kept.create(toy(name, namespace, labels={"group": group, "all": "yes"}))

    def names(*args: object) -> list[str]:
        return [str(NamespacedName(o.metadata.namespace, o.metadata.name)) for o in listed(*args)]

    def listed(*args: object) -> tuple[Toy, ...]:
        return kept.list(Toy, *args).items  # type: ignore[arg-type]

    assert names() == ["a/y", "a/z", "b/x"]
    assert names("a") == ["a/y", "a/z"]
    assert names("", {"group": "1", "all": "yes"}) == ["a/y", "b/x"]
    assert names("", {"group": "3"}) == names("nowhere") == []


def test_namespaces_keep_names_apart() -> None:
    """team-a/x and team-b/x are two objects."""
    kept = store()
    kept.create(toy("x", "team-a", 1))
    kept.create(toy("x", "team-b", 2))
    assert kept.get(Toy, "team-b/x").spec == ToySpec(2)
    assert kept.get(Toy, NamespacedName("team-a", "x")).spec == ToySpec(1)


def test_a_pod_is_given_its_node_once() -> None:
    """By a binding, which is no change of its spec in the sense of a generation."""
    kept = store()
    kept.create(pod())
    bound = kept.bind("team-a/a", "node-1")
    assert (bound.spec.node_name, bound.metadata.generation) == ("node-1", 1)
    with pytest.raises(ConflictError, match='already assigned to node "node-1"'):
        kept.bind("team-a/a", "node-2")
    kept.delete(Pod, "team-a/a")
    with pytest.raises(ConflictError, match="is being deleted"):
        kept.bind("team-a/a", "node-2")


def test_objects_are_shared_not_copied() -> None:
    """What a store hands out is what it holds: nobody can change it."""
    kept = store()
    made = kept.create(pod(labels={"a": "b"}))
    assert kept.get(Pod, "team-a/a") is made
    with pytest.raises(AttributeError):
        made.status = PodStatus("Running")  # type: ignore[misc]
    with pytest.raises(TypeError, match="frozen"):
        made.metadata.labels["a"] = "c"  # type: ignore[index]
    for change in ("clear", "popitem", "pop", "update", "setdefault"):
        with pytest.raises(TypeError, match="frozen"):
            getattr(made.metadata.labels, change)()


def test_labels_are_copied_from_the_callers_dict() -> None:
    """A dict that is changed later does not change the object."""
    labels = {"a": "b"}
    made = toy(labels=labels)
    labels["a"] = "c"
    assert made.metadata.labels == {"a": "b"}


def test_objects_survive_pickling() -> None:
    """Reports that hold them are sent between processes."""
    made = store().create(pod(labels={"a": "b"}, finalizers=["x"]))
    again = pickle.loads(pickle.dumps(made))
    assert again == made
    assert type(again.metadata.labels) is ReadOnlyMap
    assert hash(again) == hash(made)


# --- What is wrong with a call ------------------------------------------------------------------

WRONG_OBJECTS: dict[str, tuple[Toy, type[APIError], str]] = {
    "a version": (toy(resource_version="5"), BadRequestError, "resourceVersion should not be set"),
    "no name": (
        toy(""),
        InvalidError,
        'Toy.example.com "" is invalid: metadata.name: Required value: name or generateName is '
        "required",
    ),
    "no namespace": (toy(namespace=""), BadRequestError, "an empty namespace may not be set"),
    "capitals": (toy("A_b"), InvalidError, 'metadata.name: Invalid value: "A_b": a lowercase RFC'),
    "a slash": (toy("a/b"), InvalidError, 'metadata.name: Invalid value: "a/b"'),
    "too long": (toy("a" * 254), InvalidError, "metadata.name: Invalid value"),
    "a dot": (toy(namespace="a.b"), InvalidError, 'metadata.namespace: Invalid value: "a.b"'),
}


@pytest.mark.parametrize(
    ("given", "error", "text"), WRONG_OBJECTS.values(), ids=WRONG_OBJECTS.keys()
)
def test_what_is_no_new_object_is_refused(given: Toy, error: type[APIError], text: str) -> None:
    """With Kubernetes' error, and the store is as it was."""
    kept = store()
    with pytest.raises(error) as caught:
        kept.create(given)
    assert text in str(caught.value)
    assert (kept.resource_version, kept.list(Toy).items) == ("0", ())


def test_a_name_is_taken_until_its_object_is_gone() -> None:
    """AlreadyExists; the other kinds and namespaces are free."""
    kept = store()
    kept.create(pod())
    with pytest.raises(AlreadyExistsError) as caught:
        kept.create(pod())
    assert str(caught.value) == 'pods "a" already exists'
    kept.create(toy())
    kept.delete(Pod, "team-a/a")
    kept.create(pod())


@pytest.mark.parametrize("verb", ["update", "update_status"])
def test_an_update_without_a_version_is_invalid(verb: str) -> None:
    """The message is Kubernetes' own."""
    kept = store()
    kept.create(toy())
    with pytest.raises(InvalidError) as caught:
        getattr(kept, verb)(toy(size=2))
    assert str(caught.value) == (
        'toys.example.com "a" is invalid: metadata.resourceVersion: Invalid value: 0: must be '
        "specified for an update"
    )


def test_what_is_gone_cannot_be_written_read_or_deleted() -> None:
    """NotFound for every verb that needs the object, a status write included."""
    kept = store()
    gone = kept.create(toy())
    kept.delete(Toy, "team-a/a")
    calls: list[Callable[[], object]] = [
        lambda: kept.get(Toy, "team-a/a"),
        lambda: kept.update(replace(gone, spec=ToySpec(2))),
        lambda: kept.update_status(replace(gone, status=ToyStatus(2))),
        lambda: kept.patch(Toy, "team-a/a", lambda t: t),
        lambda: kept.delete(Toy, "team-a/a"),
    ]
    for call in calls:
        with pytest.raises(NotFoundError) as caught:
            call()
        assert str(caught.value) == 'toys.example.com "a" not found'
