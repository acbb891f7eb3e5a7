import { rehearsals, testRunbooks, useRehearsals } from './rehearse.ts';

testRunbooks(rehearsals.settings, useRehearsals({ withReplica: true }));
