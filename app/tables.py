"""All tables in one place, so that migrations see each of them."""

from sqlalchemy import MetaData

from app import keys
from app.accounts import tables as accounts
from app.database import Base
from app.datasets import tables as datasets
from app.jobs import tables as jobs
from app.mirrors import tables as mirrors
from app.transfer import tables as transfer
from app.transform import tables as transform
from app.verification import tables as verification

DOMAINS = (accounts, datasets, jobs, keys, mirrors, transfer, transform, verification)

metadata: MetaData = Base.metadata
"""What the database should look like."""
