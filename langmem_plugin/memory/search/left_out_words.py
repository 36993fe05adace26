"""What a question leaves out because the one before it said it, as in "and Mia's?" and "when is it due?"."""

from langmem_plugin.memory.search.asking_words import AskingWords
from langmem_plugin.memory.search.question_words import (
    COMMA,
    Token,
    Tokens,
    leading,
    owner_ending,
    request_in,
    without_article,
    without_possessive,
)


class LeftOutWords:
    def __init__(self, words: AskingWords) -> None:
        self._words = words

    def completed(self, fragment: Tokens, before: Tokens) -> Tokens:
        """What is left of a question, as "¿y a Kenji?" or "and Kenji's?", in the words of the one before."""
        words = self._words
        fragment = without_article(self._words, fragment)
        if fragment[-1].possessive:
            place = next((n for n in range(len(before) - 1, -1, -1) if before[n].possessive), None)
            if place is not None:
                return before[: owner_ending(self._words, before, place + 1)] + fragment + before[place + 1 :]
        preposition = words.prepositions.get(fragment[0].plain)
        if preposition is not None:
            place = next(
                (n for n in range(len(before) - 1, 0, -1) if words.prepositions.get(before[n].plain) == preposition),
                None,
            )
            if place is not None:
                determined = before[place + 1].plain in words.determiners if place + 1 < len(before) else False
                return before[:place] + fragment + before[place + 2 + determined :]
        return (*before, COMMA, *fragment)

    def about(self, clause: Tokens, before: Tokens) -> Tokens:
        """Of "what about Mia's?" a question in the words of the question before it; () where it has no place there."""
        size = len(leading(clause, self._words.abouts).split())
        fragment = clause[size:]
        if not size or not fragment:
            return ()
        name = self._name_in(before)
        if fragment[-1].possessive or not name or not all(token.named for token in fragment):
            return self.completed(fragment, before) if fragment[-1].possessive else ()
        place = next(n for n in range(len(before) - 1, 0, -1) if before[n].text.startswith(name[-1].text))
        owner = "'s" if before[place].possessive else ""
        return (
            *before[: place - len(name) + 1],
            *fragment[:-1],
            Token.of(fragment[-1].text + owner),
            *before[place + 1 :],
        )

    def pointed(self, part: Tokens, before: Tokens) -> Tokens:
        """The part with what it points back to: "when is it due" with "the rent"."""
        words = self._words
        place = next(
            (n for n, token in enumerate(part) if token.plain in words.pronouns | words.possessive_pronouns), None
        )
        if words.inverts:
            if place is None or any(token.named for token in part[1:place]):
                return part
            name, thing = self._name_in(before), self._thing_in(before)
            of_thing = part[place].plain in ("it", "its")
            meant = thing or (name if before[-1].named else ()) if of_thing else name or thing
            if not meant:
                return (*before, COMMA, *part)
            following = part[place + 1].plain if place + 1 < len(part) else ""
            owner = part[place].plain in words.possessive_pronouns and (
                part[place].plain != "her" or (following and following not in words.prepositions)
            )
            if owner:
                meant = (*meant[:-1], Token.of(f"{meant[-1].text}'s"))
            return (*part[:place], *meant, *part[place + 1 :])
        if self._stands_alone(part, place):
            return part
        meant = self._name_in(before) or self._thing_in(before) or self._without_question_words(before)
        return (*part, *meant)

    def _stands_alone(self, part: Tokens, pronoun: int | None) -> bool:
        """Where the verb tells who: whether the part names what it is about."""
        words = self._words
        if not words.determiners:
            return pronoun is None
        of_oneself = any(token.plain.endswith(("o", "é", "mos")) and token.plain not in words.asks for token in part)
        named = any(token.named for token in part)
        determined = any(
            token.plain in words.determiners and not (n and part[n - 1].plain in ("se", "me", "te"))
            for n, token in enumerate(part[:-1])
        )
        return of_oneself or named or determined

    def _without_question_words(self, part: Tokens) -> Tokens:
        start = request_in(self._words, part)
        while start < len(part) - 1 and part[start].plain in self._words.asks | self._words.before_asks:
            start += 1
        return part[start:]

    def _name_in(self, part: Tokens) -> Tokens:
        """The last name in it, not its first word."""
        last = next((n for n in range(len(part) - 1, 0, -1) if self._is_name(part[n])), None)
        if last is None:
            return self._hebrew_object(part)
        first = last
        while first > 1 and self._is_name(part[first - 1]) and not part[first - 1].possessive:
            first -= 1
        return (*part[first:last], without_possessive(part[last]))

    def _is_name(self, token: Token) -> bool:
        return token.named and token.plain not in self._words.asks | self._words.determiners

    def _hebrew_object(self, part: Tokens) -> Tokens:
        """Hebrew has no capitals: what stands behind a preposition."""
        if not self._words.prefixed_join:
            return ()
        last = next((n for n in range(len(part) - 2, 0, -1) if part[n].plain in self._words.prepositions), None)
        return () if last is None else part[last + 1 : last + 2]

    def _may_be_of_thing(self, token: Token) -> bool:
        words = self._words
        return token.text != "," and token.plain not in words.auxiliaries | words.joins | words.asks

    def _thing_in(self, part: Tokens) -> Tokens:
        last = next((n for n in range(len(part) - 2, -1, -1) if part[n].plain in self._words.determiners), None)
        if last is None:
            return ()
        end = last + 1
        while end < min(last + 3, len(part)) and self._may_be_of_thing(part[end]):
            end += 1
        while end < len(part) and part[end - 1].plain in self._words.prepositions:
            end += 1
        return tuple(without_possessive(token) for token in part[last:end])
