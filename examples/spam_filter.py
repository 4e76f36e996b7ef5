"""A spam filter that learns message by message, and forgets one on request.

A pipeline learns the vocabulary (CountVectorizer) and how often each word occurs in spam (MultinomialNB). A pipeline
itself has no `partial_fit` and no `forget`, so we use its two parts: the first counts words, the second learns.
"""

import numpy as np
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.pipeline import make_pipeline

from suffice import MultinomialNB

HAM = """\
are we still on for lunch tomorrow at noon
the meeting moved to three o'clock in the small room
can you send me the slides from yesterday
happy birthday hope you have a great day
i will be ten minutes late the train is stuck again
thanks for your help with the report it looks good now
dinner at our place on saturday bring the kids
did you get the keys from the neighbour
please review the attached draft before friday
the plumber comes on tuesday between nine and eleven
lovely to see you last night let us do it again soon
your parcel is at the reception you can pick it up today
mum says the cake needs another twenty minutes
what time does the film start i have the tickets
the invoice for march is attached please check the amounts
sorry i missed your call i was in a meeting
we need milk bread and coffee for the weekend
the kids have training at five can you drive
great game yesterday see you on sunday
i left my umbrella at your office could you keep it
""".splitlines()

SPAM = """\
congratulations you have won a free prize claim now
cheap pills without prescription order now and save
urgent your account is suspended click here to verify
earn cash from home no experience needed apply today
free ringtones text win to the number below
you have been selected for an exclusive offer click now
lowest prices on watches free shipping worldwide
claim your free voucher today limited offer
meet singles in your area tonight click here
act now to win a guaranteed cash prize call free
your loan is approved get cash today no credit check
win tickets to the final text now offer ends tonight
double your money in one week guaranteed profit
final notice your prize is waiting claim before midnight
free trial of our miracle diet pills order today
hot stock tip buy now before the price doubles
""".splitlines()

WRONG = "lunch offer free coffee at noon on friday claim your seat"  # an invitation that was marked as spam by mistake
NEW = "free coffee and cake offer at noon on friday"

messages, labels = np.array([*HAM, *SPAM]), np.repeat(["ham", "spam"], [len(HAM), len(SPAM)])
order = np.random.default_rng(0).permutation(len(messages))
messages, labels = messages[order], labels[order]

# The first messages define the vocabulary; words that occur only in later ones are not counted.
pipeline = make_pipeline(CountVectorizer(), MultinomialNB()).fit(messages[:24], labels[:24])
words, model = pipeline[:-1], pipeline[-1]

for start in range(24, len(messages), 6):
    piece = slice(start, start + 6)
    model.partial_fit(words.transform(messages[piece]), labels[piece])
model.partial_fit(words.transform([WRONG]), ["spam"])
print(f"learned in pieces: {model.statistics_}")


def spam_probability() -> float:
    """Return the probability that the new message is spam; the pipeline uses what its last step has learned."""
    return float(pipeline.predict_proba([NEW])[0, 1])


print(f"{NEW!r}: spam with probability {spam_probability():.2f}")
model.forget(words.transform([WRONG]), ["spam"])
print(f"{WRONG!r} forgotten")
print(f"{NEW!r}: spam with probability {spam_probability():.2f}")

never = MultinomialNB().fit(words.transform(messages), labels)  # all other messages at once
gap = abs(never.feature_log_prob_ - model.feature_log_prob_).max()
print(f"largest difference from a filter that never saw it: {gap:.1e}")
print("Words of the first messages stay in the vocabulary, even with a count of zero; a HashingVectorizer stores none.")
