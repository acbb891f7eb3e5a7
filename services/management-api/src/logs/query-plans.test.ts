import { testPlans } from './plans-for-tests.ts';

testPlans(100_000);
