import { absent, tagOf } from '@sluice/cache-coherence';
import { hashKey } from '@sluice/credentials';
import type { Queryable } from '@sluice/database';
import { parseDate } from '@sluice/database';
import { canonicalAddress } from '@sluice/hosts';
import { Confirmed, transaction } from '@sluice/http-api';
