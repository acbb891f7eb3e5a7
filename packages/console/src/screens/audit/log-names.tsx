import type { Log } from '@sluice/sdk';
import { nameOf, useMe } from '../../api/me.ts';
import { ThingLink } from '../../app/thing-link.tsx';
import { Soft } from '../../ui/layout.tsx';
import { entityTypes } from './audit-search.ts';

/** By id, as the page of the log answers them: also of things that are gone. */
export type LogNames = Readonly<Record<string, string>>;

interface NamedProps {
  row: Log;
  names: LogNames;
}

const actorTypes = { application: 'Application', user: 'User', session: 'Session', system: 'System' } as const;

export function Actor({ row: { actor_type: type, actor_id: id, detail }, names }: NamedProps) {
  const me = useMe();
  if (id === undefined) return 'System';
  if (id === me.user?.id) return <span title={id}>{nameOf(me)} (you)</span>;
  const application = detail?.application_id;
  if (type === 'session' && typeof application === 'string') {
    return (
      <span title={id}>
        <Soft>Session of</Soft> <Named type="application" id={application} name={names[application]} />
      </span>
    );
  }
  return <Named type={type} id={id} name={names[id]} kind={actorTypes[type]} />;
}

interface ResourceProps extends NamedProps {
  /** The token on whose page the row is shown. */
  tokenId?: string | undefined;
}

export function Resource({ row: { entity_type: type, entity_id: id, detail }, names, tokenId }: ResourceProps) {
  const { tenant } = useMe();
  const { key_id: key, key_version: keyVersion, reactor_id: reactor, token_ids: tokens } = detail ?? {};
  if (type === 'tenant' && id === tenant.id) return <span title={id}>{tenant.name}</span>;
  if (type === 'reactor_run' && typeof reactor === 'string') {
    return (
      <>
        <Named type="reactor" id={reactor} name={names[reactor]} /> <Named type={type} id={id} kind="Run" />
      </>
    );
  }
  if (type === 'token') {
    const others = Array.isArray(tokens) ? tokens.length - 1 : 0;
    return (
      <>
        {id === tokenId ? 'This token' : <ThingLink type={type} id={id} />}
        {others > 0 && <Soft> and {others} more</Soft>}
      </>
    );
  }
  return (
    <>
      <Named type={type} id={id} name={names[id]} kind={entityTypes[type]} />
      {typeof key === 'string' && (
        <span title={key}>
          {' '}
          <Soft>{names[key] ?? (typeof keyVersion === 'number' && `Key ${keyVersion}`)}</Soft>
        </span>
      )}
    </>
  );
}

interface ThingProps {
  type: string;
  id: string;
  name?: string | undefined;
  /** Said of a thing that has no name. */
  kind?: string;
}

/** Its name, or what it is and the beginning of its id. The whole id is shown on hover. */
function Named({ type, id, name, kind }: ThingProps) {
  if (name !== undefined) return <ThingLink type={type} id={id} name={name} />;
  return (
    <>
      {kind && <Soft>{kind} </Soft>}
      <code>
        <ThingLink type={type} id={id} name={id.length === 36 ? `${id.slice(0, 8)}…` : id} />
      </code>
    </>
  );
}
