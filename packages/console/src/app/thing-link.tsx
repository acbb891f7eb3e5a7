import { Link, type LinkProps } from '@tanstack/react-router';

/** The page of a thing that the log or an invocation names. */
export function linkOf(type: string, id: string): LinkProps | undefined {
  if (type === 'token') return { to: '/tokens/$id', params: { id } };
  if (type === 'application') return { to: '/applications/$id', params: { id } };
  if (type === 'proxy') return { to: '/proxies/$id', params: { id } };
  if (type === 'reactor') return { to: '/reactors/$id', params: { id } };
  if (type === 'reactor_formula') return { to: '/reactors/formulas/$id', params: { id } };
  return undefined;
}

interface ThingLinkProps {
  type: string;
  id: string;
  name?: string | undefined;
}

/** Its name, or its id if the name is unknown; a link if it has a page. */
export function ThingLink({ type, id, name }: ThingLinkProps) {
  const link = linkOf(type, id);
  const shown = name ?? <code>{id}</code>;
  return link ? (
    <Link {...link} title={id}>
      {shown}
    </Link>
  ) : (
    <span title={id}>{shown}</span>
  );
}
