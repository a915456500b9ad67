"""How far a judge can be believed: labels of people, agreement, corrected rates, and what follows for the gates."""
