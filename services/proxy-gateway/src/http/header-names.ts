export interface HeaderNames {
  prefix: string;
  apiKey: string;
  proxyKey: string;
  proxyKeyParameter: string;
  keepAlive: string;
  connection: string;
  traceId: string;
  destinationStatus: string;
}

/** Names to read are in lower case, as node:http gives them; names to send are as written. */
export function headerNamesFor(prefix: string): HeaderNames {
  const lower = prefix.toLowerCase();
  return {
    prefix,
    apiKey: `${lower}-api-key`,
    proxyKey: `${lower}-proxy-key`,
    proxyKeyParameter: `${lower}-proxy-key`,
    keepAlive: `${lower}-proxy-keep-alive`,
    connection: `${lower}-proxy-connection`,
    traceId: `${prefix}-TRACE-ID`,
    destinationStatus: `${prefix}-PROXY-DESTINATION-STATUS`,
  };
}
