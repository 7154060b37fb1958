"""Changes to the model of asynchronous ISR changes that no property notices."""

LATER = (
    "The leader takes its high watermark for higher than it is when it looks whom to add: it adds a follower later, "
    "which nothing forbids; the high watermark itself is asked of the states."
)
COUNTED = "return contains(leader.isr, replica) or contains(leader.pending, replica)"
EQUIVALENT = {}
UNNOTICED = {
    ("kafkaproof.spec.async_isr.async_isr.is_counted", f"{COUNTED} -> return contains(leader.isr, replica)"): LATER,
    ("kafkaproof.spec.async_isr.async_isr.is_counted", f"{COUNTED} -> return contains(leader.pending, replica)"): LATER,
    (
        "kafkaproof.spec.async_isr.async_isr.is_counted",
        f"{COUNTED} -> return contains(leader.isr, replica) or contains(leader.isr, replica)",
    ): LATER,
}
