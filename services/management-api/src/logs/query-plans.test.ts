import { isFullRun } from '@sluice/testing';
import { testPlans } from '../testing/log-plans.ts';

testPlans(isFullRun ? 1_000_000 : 100_000);
