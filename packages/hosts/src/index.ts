export { forBrowsers, refuseServiceWorker } from './browser-rules.ts';
export {
  addressReader,
  canonicalAddress,
  networkOf,
  singleAddressOf,
  trustedProxySettings,
} from './client-address.ts';
export {
  type Host,
  type HostKind,
  type HostOf,
  hostSettings,
  hostsFrom,
  isLocalHost,
  type ListenersByHost,
  originOf,
  serveByHost,
} from './hosts.ts';
export { hostAndPort, type OwnHosts, ownHostsFrom } from './own-hosts.ts';
