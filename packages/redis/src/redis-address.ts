interface RedisHost {
  host: string;
  port: number;
}

interface Access {
  tls: boolean;
  username?: string;
  password?: string;
}

export type RedisAddress =
  | (Access & { kind: 'server' })
  | (Access & { kind: 'cluster'; hosts: RedisHost[] })
  | (Access & { kind: 'sentinel'; hosts: RedisHost[]; name: string; db: number; sentinelPassword?: string });

const form =
  /^redis(?<s>s?)\+(?<kind>cluster|sentinel):\/\/(?:(?<user>[^:@/]*)(?::(?<password>[^@/]*))?@)?(?<hosts>[^@/?]+)(?<rest>(?:[/?].*)?)$/;
const hostForm = /^(?<host>\[[^\]]+\]|[^:[\]]+)(?::(?<port>\d{1,5}))?$/;

/**
 * Reads `redis://…`, `redis+cluster://user:password@host:port,host:port` and
 * `redis+sentinel://user:password@host:port,host:port/name-of-the-master/database?sentinel_password=…`.
 * @throws {Error} that does not quote the URL, because it has a password.
 */
export function readRedisUrl(url: string): RedisAddress {
  if (/^rediss?:\/\//.test(url)) return { kind: 'server', tls: url.startsWith('rediss') };
  const { s, kind, user, password, hosts = '', rest = '' } = form.exec(url)?.groups ?? {};
  if (!kind) throw new Error('REDIS_URL is none of redis://, redis+cluster:// and redis+sentinel://, each with hosts');
  const access = {
    tls: s === 's',
    ...(user && { username: decodeURIComponent(user) }),
    ...(password !== undefined && { password: decodeURIComponent(password) }),
  };
  if (kind === 'cluster') {
    if (rest !== '' && rest !== '/') throw new Error('REDIS_URL has a path or a query: a cluster has one database, 0');
    return { kind, ...access, hosts: readHosts(hosts, 6379) };
  }
  const { pathname, searchParams } = new URL(rest, 'redis://sentinels');
  const [, name, db = '0'] = pathname.split('/');
  if (!name || !/^\d+$/.test(db))
    throw new Error('REDIS_URL lacks the name of the master: redis+sentinel://hosts/name');
  const sentinelPassword = searchParams.get('sentinel_password');
  return {
    kind: 'sentinel',
    ...access,
    hosts: readHosts(hosts, 26_379),
    name: decodeURIComponent(name),
    db: Number(db),
    ...(sentinelPassword !== null && { sentinelPassword }),
  };
}

function readHosts(text: string, defaultPort: number): RedisHost[] {
  return text.split(',').map((one) => {
    const { host, port = String(defaultPort) } = hostForm.exec(one)?.groups ?? {};
    if (!host || Number(port) > 65_535) throw new Error('REDIS_URL has a host that cannot be read');
    return { host: host.replace(/^\[|\]$/g, ''), port: Number(port) };
  });
}
