"""Figures of measurements, in the form that papers want: text as text, points with
their spread, and no series that only colours tell apart."""
