export { fieldsOperations, operations, operationsByCookie, operationsOfAnybody, operationsOfSignIns } from './app.ts';
