import { testPlans } from '../testing/log-plans.ts';

testPlans(1_000_000);
