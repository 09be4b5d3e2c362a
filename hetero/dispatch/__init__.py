"""The dispatcher: device HETERO, which runs one model on several devices."""
