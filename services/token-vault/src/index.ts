export { operations, operationsByCookie } from './app.ts';
export { fieldsOperations } from './elements/frame-operations.ts';
