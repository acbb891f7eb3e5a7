import { testPlans } from './plans-for-tests.ts';

testPlans(1_000_000);
