export { operations } from './reactors/reactor-app.ts';
