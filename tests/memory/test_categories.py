"""A person's own categories: a tree of names with colours, and the memories in them."""

import dataclasses

import pytest
from sqlalchemy import text

from langmem_plugin import PhoneMemory
from langmem_plugin.database.encryption.master_keys import new_master_key
from langmem_plugin.errors import CategoryNotFound, InvalidInput
from langmem_plugin.memory.keep import categories
from langmem_plugin.memory.keep.damage_check import examine
from langmem_plugin.memory.memory_types import Filter
from tests.memory.encrypted_services import encrypted_service, is_in, stored_bytes

ANNA, ANNAS_TELEGRAM, BEN = "+972501234567", "telegram:4242", "+972507654321"


def _tree(memory, owner=ANNA):
    found = memory.categories.list_categories(owner)
    names = {each.category_id: each.name for each in found}
    return [(each.name, names.get(each.parent_id)) for each in found]


@pytest.fixture
def home(memory):
    """home > (kitchen > recipes), moving; and work."""
    made = memory.categories.create(ANNA, "Home", color="#00AAFF", description=" where we live ")
    kitchen = memory.categories.create(ANNA, "kitchen", parent_id=made.category_id)
    memory.categories.create(ANNA, "Recipes", parent_id=kitchen.category_id)
    memory.categories.create(ANNA, "work")
    memory.categories.create(ANNA, "moving", parent_id=made.category_id)
    return made


@pytest.mark.spec("M-1")
def test_categories_are_listed_as_a_tree_parents_before_children(memory, home, clock):
    assert (home.color, home.description, home.parent_id, home.created_at) == (
        "#00aaff",
        "where we live",
        None,
        clock(),
    )
    assert _tree(memory) == [
        ("Home", None),
        ("kitchen", "Home"),
        ("Recipes", "kitchen"),
        ("moving", "Home"),
        ("work", None),
    ]
    assert memory.categories.list_categories(ANNA)[-1].color == "#3b82f6"
    assert categories.names_within(memory.categories.list_categories(ANNA), ["HOME"]) == {
        "home",
        "kitchen",
        "recipes",
        "moving",
    }
    assert categories.names_within(memory.categories.list_categories(ANNA), ["Nowhere "]) == {"nowhere"}


@pytest.mark.spec("P-6")
def test_nobody_sees_or_hangs_a_category_under_anothers(memory, home):
    assert memory.categories.list_categories(BEN) == []
    own = memory.categories.create(BEN, "home")
    for refused in (
        lambda: memory.categories.create(BEN, "x", parent_id=home.category_id),
        lambda: memory.categories.update(BEN, own.category_id, parent_id=home.category_id),
        lambda: memory.categories.update(BEN, home.category_id, name="mine"),
        lambda: memory.categories.delete(BEN, home.category_id),
    ):
        with pytest.raises(CategoryNotFound):
            refused()
    assert memory.categories.list_categories(BEN) == [own]


@pytest.mark.spec("C-13")
def test_bad_categories_are_refused_with_what_to_do(memory, home):
    recipes = next(each for each in memory.categories.list_categories(ANNA) if each.name == "Recipes")
    before = memory.categories.list_categories(ANNA)
    for said, refused in (
        ("already", lambda: memory.categories.create(ANNA, " hOmE ")),
        ("already", lambda: memory.categories.update(ANNA, home.category_id, name="WORK")),
        ("not blank", lambda: memory.categories.create(ANNA, " \n ")),
        ("100 characters", lambda: memory.categories.create(ANNA, "n" * 101)),
        ("1000 characters", lambda: memory.categories.create(ANNA, "n", description="d" * 1001)),
        ("hexadecimal", lambda: memory.categories.create(ANNA, "n", color="red")),
        ("hexadecimal", lambda: memory.categories.create(ANNA, "n", color="#3b82f6\n")),
        ("NUL", lambda: memory.categories.create(ANNA, "a\0b")),
        ("below itself", lambda: memory.categories.update(ANNA, home.category_id, parent_id=recipes.category_id)),
        ("below itself", lambda: memory.categories.update(ANNA, home.category_id, parent_id=home.category_id)),
    ):
        with pytest.raises(InvalidInput, match=said):
            refused()
    assert memory.categories.list_categories(ANNA) == before


@pytest.mark.spec("M-19")
def test_a_person_has_500_categories_at_most(memory):
    first = memory.categories.create(ANNA, "first")
    many = [dataclasses.replace(first, category_id=f"c{number}", name=f"c{number}") for number in range(499)]
    with memory.database.write() as connection:
        categories.store(connection, ANNA, many)
    with pytest.raises(InvalidInput, match="500 categories are there"):
        memory.categories.create(ANNA, "one more")


@pytest.mark.spec("M-1")
def test_a_category_gets_another_name_with_all_its_memories_in_whatever_state(memory, home, clock):
    housing = memory.remember(ANNA, "The rent is 4,000", category="home")
    over = memory.remember(ANNA, "The rent is due on the 3rd", category="HOME")
    memory.forget(ANNA, over.id)
    other = memory.remember(ANNA, "The office is in Haifa", category="work")
    ours = memory.remember(BEN, "Rent is 3,000", category="home")
    clock.forward(days=1)
    renamed = memory.categories.update(ANNA, home.category_id, name="Housing")
    assert (renamed.name, renamed.color) == ("Housing", "#00aaff")
    after = memory.get(ANNA, [housing.id])[0]
    assert (after.category, after.revision, after.updated_at) == ("Housing", housing.revision + 1, housing.updated_at)
    assert {each.category for each in memory.list_memories(ANNA, statuses=("forgotten",))} == {"Housing"}
    assert memory.get(ANNA, [other.id])[0].category == "work"
    assert memory.get(BEN, [ours.id])[0].category == "home"
    assert [each.memory.id for each in memory.search(ANNA, "the rent", where=Filter(categories=["Housing"]))] == [
        housing.id
    ]
    assert examine(memory.database) == []
    assert memory.categories.update(ANNA, home.category_id, name="housing").name == "housing"
    assert memory.get(ANNA, [housing.id])[0].category == "housing"


@pytest.mark.spec("M-1")
def test_what_was_below_a_deleted_category_and_in_it_moves_up(memory, home):
    soup = memory.remember(ANNA, "Soup needs a bay leaf", category="Kitchen")
    rent = memory.remember(ANNA, "The rent is 4,000", category="home")
    kitchen = next(each for each in memory.categories.list_categories(ANNA) if each.name == "kitchen")
    memory.categories.delete(ANNA, kitchen.category_id)
    assert _tree(memory) == [("Home", None), ("moving", "Home"), ("Recipes", "Home"), ("work", None)]
    assert memory.get(ANNA, [soup.id])[0].category == "Home"
    memory.categories.delete(ANNA, home.category_id)
    assert _tree(memory) == [("moving", None), ("Recipes", None), ("work", None)]
    assert [each.category for each in memory.get(ANNA, [soup.id, rent.id])] == [None, None]
    with pytest.raises(CategoryNotFound):
        memory.categories.delete(ANNA, home.category_id)


@pytest.mark.spec("M-1")
def test_counts_are_of_active_memories_also_of_names_without_a_row(memory, home, clock):
    rent = memory.remember(ANNA, "The rent is 4,000", category="HOME")
    memory.remember(ANNA, "The landlord is Dov", category="home")
    memory.remember(ANNA, "The tent is in the car", category="Trips")
    memory.forget(ANNA, memory.remember(ANNA, "Passports are in the drawer", category="trips").id)
    memory.remember(ANNA, "Tickets cost 90", category="trips", expires_at=clock().replace(hour=10))
    clock.forward(hours=5)
    memory.note_access(ANNA, {rent.id: 0.9}, "cited", session_id="s")
    assert memory.categories.counts(ANNA) == {
        "Home": (2, clock()),
        "kitchen": (0, None),
        "Recipes": (0, None),
        "moving": (0, None),
        "work": (0, None),
        "Trips": (1, None),
    }
    assert memory.categories.counts(BEN) == {}


@pytest.mark.spec("P-1")
def test_encrypted_memories_follow_their_category_and_its_words_are_nowhere(
    database_url, clock, offline_model, tmp_path
):
    key = new_master_key()
    with encrypted_service(database_url, key, embeddings=offline_model, now=clock) as memory:
        made = memory.categories.create(ANNA, "Zebrafish", description="Quokkas and such")
        below = memory.categories.create(ANNA, "Axolotl", parent_id=made.category_id)
        hidden = memory.remember(ANNA, "It eats at noon", category="zebrafish", private=True)
        other = memory.remember(ANNA, "It sleeps at ten", category="ZEBRAFISH", private=True)
        plainly = memory.remember(ANNA, "It swims at two", category="Zebrafish")
        assert memory.categories.counts(ANNA) == {"Zebrafish": (3, None), "Axolotl": (0, None)}
        memory.categories.update(ANNA, made.category_id, name="Capybara")
        found = memory.list_memories(ANNA, where=Filter(categories=["Capybara"]))
        assert {each.id for each in found} == {hidden.id, other.id, plainly.id}
        assert categories.names_within(memory.categories.list_categories(ANNA), ["capybara"]) == {"capybara", "axolotl"}
        memory.categories.update(ANNA, below.category_id, parent_id=None)
        memory.categories.delete(ANNA, made.category_id)
        assert {each.category for each in memory.list_memories(ANNA)} == {None}
        memory.categories.create(ANNA, "Wolverine", description="Narwhals")
        assert examine(memory.database) == []
    held = stored_bytes(database_url)
    assert not any(is_in(held, word) for word in ("Wolverine", "Narwhals"))


@pytest.mark.spec("M-18")
def test_a_damaged_category_is_left_out_named_and_can_be_deleted(memory, home):
    with memory.database.write() as connection:
        connection.execute(text("UPDATE langmem_memory_category SET name = 'Harbour' WHERE name = 'kitchen'"))
    assert _tree(memory) == [("Home", None), ("moving", "Home"), ("Recipes", None), ("work", None)]
    damaged = examine(memory.database)
    assert [each.kind for each in damaged] == ["category"]
    memory.categories.delete(ANNA, damaged[0].row_id)
    assert examine(memory.database) == []


@pytest.mark.spec("P-4")
def test_an_erased_persons_categories_are_gone_and_an_owner_of_categories_alone_is_kept(memory, home):
    memory.categories.create(BEN, "home")
    memory.purge()
    memory.erase(ANNA)
    assert memory.categories.list_categories(ANNA) == []
    assert len(memory.categories.list_categories(BEN)) == 1


@pytest.fixture
def people(database_url, clock, offline_model):
    with PhoneMemory(database_url, embeddings=offline_model, now=clock) as made:
        yield made


@pytest.mark.spec("C-20")
def test_two_trees_become_one_and_two_again(people):
    categories = people.service.categories
    old = categories.create(ANNAS_TELEGRAM, "HOME", color="#ff0000", description="ours")
    attic = categories.create(ANNAS_TELEGRAM, "attic", parent_id=old.category_id)
    categories.create(ANNAS_TELEGRAM, "boxes", parent_id=attic.category_id)
    people.service.remember(ANNAS_TELEGRAM, "The skis are up there", category="attic")
    house = categories.create(ANNA, "home")
    categories.create(ANNA, "boat", parent_id=house.category_id)
    alone = categories.list_categories(ANNAS_TELEGRAM)
    merged = people.people.merge(ANNA, ANNAS_TELEGRAM)
    assert _tree(people.service) == [("home", None), ("attic", "home"), ("boxes", "attic"), ("boat", "home")]
    assert categories.counts(ANNA)["attic"] == (1, None)
    categories.create(ANNA, "chest", parent_id=attic.category_id)
    people.people.unlink(merged)
    assert _tree(people.service) == [("chest", None), ("home", None), ("boat", "home")]
    again = categories.list_categories(ANNAS_TELEGRAM)
    # What both had is as it was meanwhile.
    assert again == [dataclasses.replace(house, category_id=old.category_id), *alone[1:]]


@pytest.mark.spec("P-3")
def test_categories_are_exported_and_imported_with_their_tree(people):
    categories = people.service.categories
    home = categories.create(ANNA, "Home", color="#112233", description="where we live")
    categories.create(ANNA, "attic", parent_id=home.category_id)
    document = people.export(ANNA)
    there = categories.create(BEN, "home")
    report = people.import_person(document, phone=BEN)
    assert (report.stored["category"], report.there_already["category"], report.skipped) == (1, 1, [])
    assert _tree(people.service, BEN) == [("home", None), ("attic", "home")]
    assert categories.list_categories(BEN)[0] == there
    assert people.import_person(document, phone=BEN).stored["category"] == 0
