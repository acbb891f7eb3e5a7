import { Agent, createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { openClientAddresses } from '@sluice/http-api';
import { ServiceError } from '@sluice/problems';
import { isEndCertain, pathOfTarget } from '@sluice/service-runtime';
import { answerFailure, serviceAway } from './failure.ts';
import { answerRefusals } from './refusals.ts';
import { relay } from './relay.ts';
import { findService, type ServiceName } from './routes.ts';
import { spreadLookup } from './spread-lookup.ts';

export interface IngressOptions {
  /** Where the services are, for example `http://127.0.0.1:8081`. */
  origins: Readonly<Record<ServiceName, URL>>;
  /** First part of the names of our own headers. */
  headerPrefix: string;
  /** From where a request comes; the peer of its connection without it. */
  addressOf?: (request: IncomingMessage) => string;
  /** Told when a service could not be reached, or did not answer. */
  onFailure: (error: Error, service: ServiceName) => void;
}

/**
 * A head has 10 s, as everywhere. The other limits are the services' own: a body may take any time, and header blocks are
 * let through up to a size at which the services refuse them. Idle connections are kept longer than balancers in front
 * keep theirs.
 */
const serverOptions = {
  requestTimeout: 0,
  headersTimeout: 10_000,
  connectionsCheckingInterval: 1000, // how late that may be; Node's default is 30 s
  keepAliveTimeout: 75_000,
  maxHeaderSize: 32 * 1024,
};

/** The server; it does not listen yet. */
export function createIngress(options: IngressOptions): Server {
  const { origins, headerPrefix, addressOf = openClientAddresses(), onFailure } = options;
  const agent = new Agent({ keepAlive: true, scheduling: 'fifo', lookup: spreadLookup });
  const handle = (request: IncomingMessage, response: ServerResponse) => {
    const path = pathOfTarget(request.url ?? '', request.headers.host);
    const service = findService(path ?? '');
    const fail = (error: ServiceError) => answerFailure(request, response, { error, service, headerPrefix });
    const fault = faultIn(request);
    if (fault !== undefined || path === undefined) {
      response.shouldKeepAlive = false;
      const target = 'The request target must be a path, or a URL whose authority is that of Host';
      fail(new ServiceError('bad_request', fault ?? target));
      return;
    }
    try {
      relay({
        request,
        response,
        path,
        origin: origins[service],
        agent,
        client: addressOf(request),
        onFailure: (error) => {
          onFailure(error, service);
          fail(serviceAway(service));
        },
      });
    } catch {
      // What the parser let in but may not be sent on, such as a request target that is not ASCII.
      fail(new ServiceError('bad_request', 'The request target or a header holds characters that are not allowed'));
    }
  };
  const server = createServer(serverOptions, handle);
  server.maxHeadersCount = 0; // the services count them; Node would leave out what is beyond its own limit
  answerRefusals(server);
  server.on('checkContinue', handle); // the service decides whether it wants the body
  server.on('checkExpectation', handle);
  server.on('close', () => agent.destroy());
  return server;
}

/** What services refuse, but cannot see behind us: to them we speak HTTP/1.1 (RFC 9112 section 6.1). */
function faultIn(request: IncomingMessage): string | undefined {
  const isKnown = request.httpVersion === '1.1' || request.httpVersion === '1.0';
  if (!isKnown) return 'The HTTP version must be 1.1 or 1.0';
  return isEndCertain(request) ? undefined : 'The body must be chunked, in HTTP/1.1, or have a length';
}
