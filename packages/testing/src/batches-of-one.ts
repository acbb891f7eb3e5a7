import { limitBatches } from '@sluice/service-runtime';

limitBatches(1);
