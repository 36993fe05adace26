"""Messages of WhatsApp, Telegram and Twilio: payloads read into `Incoming` records, and webhooks answered with them."""

from langmem_plugin.channels.incoming import Incoming, TryLater, is_same, payload_of

__all__ = ["Incoming", "TryLater", "is_same", "payload_of"]
