export { type EndTurn, FairTurns, type FairTurnsOptions, type OnWait } from './fair-turns.ts';
