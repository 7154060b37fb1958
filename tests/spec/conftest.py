from hypothesis import settings

settings.register_profile("spec", deadline=None, max_examples=40)
settings.load_profile("spec")
