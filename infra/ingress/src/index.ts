export { createIngressServer, type IngressOptions } from './ingress.ts';
export { findService, type Route, routes, type ServiceName } from './routes.ts';
