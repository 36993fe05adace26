"""The messages of WhatsApp, Telegram and Twilio: payloads become `Incoming` records, webhooks are answered."""

from langmem_plugin.channels.payloads import Incoming, TryLater, is_same, payload_of

__all__ = ["Incoming", "TryLater", "is_same", "payload_of"]
