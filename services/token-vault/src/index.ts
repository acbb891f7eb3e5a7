export { operations } from './app.ts';
