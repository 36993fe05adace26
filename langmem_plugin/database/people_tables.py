"""The tables of people: who has which identifiers, what was merged, what a person has set, who has access."""

from sqlalchemy import Boolean, Column, Index, Integer, LargeBinary, Table

from langmem_plugin.database.schema import Identifying, Instant, Json, Name, Owner, Words, metadata

identifier = Table(  # an identifier of a person whose key is another; any other is its own person's key
    "langmem_identifier",
    metadata,
    Column("identifier", Identifying, primary_key=True),
    Column("person", Owner, nullable=False),
    Column("linked_at", Instant, nullable=False),
    sqlite_with_rowid=False,
)
Index("langmem_identifiers_of", identifier.c.person)

merge = Table(  # the record of what moved from one person to another, so that it can move back
    "langmem_merge",
    metadata,
    Column("person", Owner, primary_key=True),
    Column("merge_id", Name, primary_key=True),
    Column("other", Identifying, nullable=False),
    Column("merged_at", Instant, nullable=False),
    Column("moved", Json(dict), nullable=False),
    sqlite_with_rowid=False,
)
Index("langmem_merge_of", merge.c.other)

person_name = Table(  # given by an operator; only a person who has one has a row
    "langmem_person_name",
    metadata,
    Column("person", Owner, primary_key=True),
    Column("name", Words, nullable=False),
    sqlite_with_rowid=False,
)

link_code = Table(  # texted from another channel, it proves that both are one person's; a person has one at most
    "langmem_link_code",
    metadata,
    Column("person", Owner, primary_key=True),
    Column("salt", LargeBinary, nullable=False),  # keys the digest
    Column("digest", LargeBinary, nullable=False),
    Column("expires_at", Instant, nullable=False),
    Column("other", Owner),  # the one who texted it and wants to be linked: the person is asked too
    sqlite_with_rowid=False,
)

new_link = Table(  # identifiers that were linked by a code less than a day ago
    "langmem_new_link",
    metadata,
    Column("identifier", Owner, primary_key=True),
    Column("linked_at", Instant, nullable=False),
    sqlite_with_rowid=False,
)

link_attempt = Table(  # how often an identifier has tried codes lately
    "langmem_link_attempt",
    metadata,
    Column("identifier", Identifying, primary_key=True),
    Column("attempts", Integer, nullable=False),
    Column("since", Instant, nullable=False),
    sqlite_with_rowid=False,
)

access_token = Table(  # tokens by which a program reaches one person's data; one that was taken back has no row
    "langmem_access_token",
    metadata,
    Column("token_id", Name, primary_key=True),
    Column("kind", Name, nullable=False, server_default="person"),  # see AccessTokens
    Column("opened_by", Name),  # the operator's token that let a browser in: taking it back shuts the browser out
    # The person's, as it was given: links and merges are followed. Empty for an operator, who serves everybody.
    Column("identifier", Identifying, nullable=False),
    Column("digest", LargeBinary, nullable=False),
    Column("created_at", Instant, nullable=False),
    Column("expires_at", Instant, nullable=False),
    sqlite_with_rowid=False,
)
Index("langmem_access_tokens_of", access_token.c.identifier)

person = Table(
    "langmem_person",
    metadata,
    Column("person", Owner, primary_key=True),
    Column("time_zone", Name),  # IANA name; null: the one of the phone's country
    Column("language", Name),  # two letters; the language written last
    # The permissions to remember without being told to: null where they were never asked.
    Column("allow_memory_extraction", Boolean),
    Column("allow_personal_memories", Boolean),
    Column("allow_sensitive_memories", Boolean),
    # The time since when each of these holds: it does not cover what was said before.
    Column("extraction_since", Instant),
    Column("personal_since", Instant),
    Column("sensitive_since", Instant),
    # The last answer on it: when, in which words, and to which version of the question.
    Column("consent_at", Instant),
    Column("consent_text", Words),
    Column("consent_version", Integer),
    Column("shown", Json(dict)),  # by a list's name, the ids that they saw last under its numbers
    sqlite_with_rowid=False,
)
