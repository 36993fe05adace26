"""Whose a memory or an instruction with an id is: for an operator, who has nothing but the id."""

from sqlalchemy import Connection, select

from langmem_plugin.database.memory_tables import memory, standing_instruction


def owners_of_memory(connection: Connection, memory_id: str) -> list[str]:
    """Mostly one; more where a person's data was imported for another as well."""
    return list(connection.execute(select(memory.c.owner).where(memory.c.memory_id == memory_id)).scalars())


def owners_of_instruction(connection: Connection, instruction_id: str) -> list[str]:
    whose = select(standing_instruction.c.owner).where(standing_instruction.c.instruction_id == instruction_id)
    return list(connection.execute(whose).scalars())
