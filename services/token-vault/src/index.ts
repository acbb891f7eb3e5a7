export { fieldsOperations, operations, operationsByCookie } from './app.ts';
