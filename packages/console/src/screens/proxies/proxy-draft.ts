import type { Proxy as ProxyResource } from '@sluice/sdk';

type Texts = Readonly<Record<string, string>>;

/** All of a Proxy but its code, as it is edited. */
export interface ProxyDraft {
  name: string;
  destination_url: string;
  require_auth: boolean;
  /** Empty for none. */
  applicationId: string;
  configuration: Texts;
  headers: Texts;
  places: readonly string[];
  /** Empty for the default. */
  timeout: string;
  /** Empty for no route. */
  pathName: string;
  keyPlaces: readonly KeyPlace[];
  /** With commas between them; empty for all. */
  methods: string;
  /** One a line; empty for all. */
  paths: string;
  guard: GuardMode;
}

export type GuardMode = NonNullable<ProxyResource['response_guard']>;

export type KeyPlace = NonNullable<ProxyResource['accept_key_as']>[number];

/** Seconds that the gateway waits where a Proxy has no limit of its own. */
export const defaultTimeoutS = 25;

/** Where a Proxy without `token_places` replaces tokens. */
const defaultPlaces: readonly string[] = ['body'];

export const emptyDraft: ProxyDraft = {
  ...{ name: '', destination_url: '', require_auth: true, applicationId: '', configuration: {}, headers: {} },
  ...{ places: defaultPlaces, timeout: '', pathName: '', keyPlaces: [], methods: '', paths: '' },
  guard: 'off',
};

export function placesInWords(places: readonly string[] = defaultPlaces): string {
  return places.length === 0 ? 'nothing' : places.join(', ');
}

export function toDraft(proxy: ProxyResource): ProxyDraft {
  const { name, destination_url, require_auth, configuration = {}, application_id, request_headers = {} } = proxy;
  return {
    ...{ name, destination_url, require_auth, configuration },
    applicationId: application_id ?? '',
    headers: request_headers,
    places: proxy.token_places ?? defaultPlaces,
    timeout: proxy.head_timeout_s?.toString() ?? '',
    pathName: proxy.path_name ?? '',
    keyPlaces: proxy.accept_key_as ?? [],
    methods: proxy.allowed_methods?.join(', ') ?? '',
    paths: proxy.allowed_paths?.join('\n') ?? '',
    guard: proxy.response_guard ?? 'off',
  };
}

/** Members of a Proxy of whom and what it lets through. What is not set is null. */
function callsOf({ pathName, keyPlaces, methods, paths, guard }: ProxyDraft) {
  return {
    path_name: pathName || null,
    accept_key_as: unlessEmpty([...keyPlaces]),
    allowed_methods: unlessEmpty(partsOf(methods, ',')),
    allowed_paths: unlessEmpty(partsOf(paths, '\n')),
    response_guard: guard === 'off' ? null : guard,
  };
}

function withoutNull<T extends object>(members: T): { [Name in keyof T]?: NonNullable<T[Name]> } {
  return Object.fromEntries(Object.entries(members).filter(([, value]) => value !== null)) as ReturnType<
    typeof withoutNull<T>
  >;
}

const unlessEmpty = <T>(list: T[]): T[] | null => (list.length > 0 ? list : null);

export function partsOf(text: string, separator: string): string[] {
  return text
    .split(separator)
    .map((part) => part.trim())
    .filter((part) => part !== '');
}

export function toBody(draft: ProxyDraft) {
  const { name, destination_url, require_auth, configuration, applicationId, headers, places, timeout } = draft;
  return {
    ...{ name, destination_url, require_auth, configuration },
    ...withoutNull(callsOf(draft)),
    ...(applicationId && { application: { id: applicationId } }),
    ...(Object.keys(headers).length > 0 && { request_headers: headers }),
    ...(placesInWords(places) !== placesInWords() && { token_places: [...places] }),
    ...(timeout && { head_timeout_s: Number(timeout) }),
  };
}

/** Names only members that were changed, because a named Application or a place that is named counts as set. */
export function toPatch(draft: ProxyDraft, base: ProxyResource) {
  const { name, destination_url, require_auth, configuration, applicationId, headers, places, timeout } = draft;
  const before = toDraft(base);
  const callsBefore: Record<string, unknown> = callsOf(before);
  return {
    ...{ name, destination_url, require_auth },
    ...Object.fromEntries(Object.entries(callsOf(draft)).filter(([name, value]) => !isSame(value, callsBefore[name]))),
    configuration: merging(configuration, before.configuration),
    ...(applicationId !== before.applicationId && { application: applicationId ? { id: applicationId } : null }),
    ...(!isSame(headers, before.headers) && { request_headers: merging(headers, before.headers) }),
    ...(placesInWords(places) !== placesInWords(before.places) && { token_places: [...places] }),
    ...(timeout !== before.timeout && { head_timeout_s: timeout ? Number(timeout) : null }),
  };
}

/** A merge patch keeps members that it does not name, so a removed one is sent as null. */
function merging(values: Texts, before: Texts): Record<string, string | null> {
  const patched = new Set(Object.keys(values).map((name) => name.toLowerCase()));
  const removed = Object.keys(before).filter((name) => !patched.has(name.toLowerCase()));
  return { ...values, ...Object.fromEntries(removed.map((name) => [name, null])) };
}

const isSame = (a: unknown, b: unknown) => JSON.stringify(a) === JSON.stringify(b);
