import { testPlans } from '../testing/log-plans.ts';

testPlans(100_000);
