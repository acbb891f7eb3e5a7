import type { PermissionName } from '@sluice/sdk';
import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { sluice } from '../../api/client.ts';
import { useMe } from '../../api/me.ts';
import { Combo, type Option } from '../../ui/combo.tsx';
import { useSettled } from '../../ui/use-settled.ts';

interface Kind {
  kind: string;
  needs: PermissionName;
  find: (text: string, options: { signal: AbortSignal }) => Promise<Option[]>;
}

/** Of each kind, so that one with many things does not hide the others. */
const size = 6;

const page = (name: string) => ({ size, ...(name !== '' && { name }) });

/** The log names a person who acts by the id of the user, and a membership that is changed by its own id. */
const people = (idOf: (member: { id: string; user: { id: string } }) => string): Kind => ({
  kind: 'Member',
  needs: 'tenant:member:read',
  async find(email, options) {
    const { data } = await sluice.members.list({ size, ...(email !== '' && { email }) }, options).page();
    return data.map((member) => ({ id: idOf(member), name: member.user.email ?? member.user.id }));
  },
});

const applications: Kind = {
  kind: 'Application',
  needs: 'application:read',
  find: async (name, options) => (await sluice.applications.list(page(name), options).page()).data,
};

const kinds = {
  Actor: [people(({ user }) => user.id), applications],
  Resource: [
    applications,
    {
      kind: 'Proxy',
      needs: 'proxy:read',
      find: async (name, options) => (await sluice.proxies.list(page(name), options).page()).data,
    },
    {
      kind: 'Reactor',
      needs: 'reactor:read',
      find: async (name, options) => (await sluice.reactors.list(page(name), options).page()).data,
    },
    {
      kind: 'Formula',
      needs: 'reactor:read',
      find: async (name, options) => (await sluice.reactorFormulas.list(page(name), options).page()).data,
    },
    people(({ id }) => id),
  ],
} satisfies Record<string, readonly Kind[]>;

interface ThingFilterProps {
  label: keyof typeof kinds;
  /** The chosen one, with its name if the page of the log has told it. */
  value: { id: string; name: string | undefined } | undefined;
  onValue: (id: string | undefined) => void;
}

const uuid = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;

/** A filter by a thing, found by a part of its name, or by its id, which also finds what is gone. */
export function ThingFilter({ label, value, onValue }: ThingFilterProps) {
  const { permissions } = useMe();
  const [isUsed, setIsUsed] = useState(false);
  const [typed, setTyped] = useState('');
  const [chosen, setChosen] = useState<Option>();
  const sought = useSettled(typed);
  const visible = kinds[label].filter(({ needs }) => permissions.includes(needs));
  const isId = uuid.test(sought);
  const { data, error, isFetching } = useQuery({
    queryKey: ['logs', 'to filter by', label, sought],
    queryFn: async ({ signal }) => {
      const found = await Promise.all(
        visible.map(async ({ kind, find }) =>
          (await find(sought, { signal })).map(({ id, name }) => ({ id, name, kind })),
        ),
      );
      return found.flat();
    },
    enabled: isUsed && visible.length > 0 && !isId,
    placeholderData: (former) => former,
  });
  const byId = { id: sought.toLowerCase(), name: sought.toLowerCase(), kind: 'Id' };
  const options: readonly Option[] = isId ? [byId] : (data ?? []);
  return (
    <Combo
      isFilter
      label={label}
      placeholder="Name or id"
      value={value && { id: value.id, name: value.name ?? (chosen?.id === value.id ? chosen.name : value.id) }}
      options={options}
      note={error ? error.message : noteOf({ isEmpty: options.length === 0, isFetching, sought })}
      onOpen={() => setIsUsed(true)}
      onTyped={setTyped}
      onValue={(id) => {
        setChosen(options.find((option) => option.id === id));
        onValue(id);
      }}
    />
  );
}

function noteOf({ isEmpty, isFetching, sought }: { isEmpty: boolean; isFetching: boolean; sought: string }) {
  if (!isEmpty) return undefined;
  if (isFetching) return 'Searching';
  return sought === ''
    ? 'Enter an id.'
    : `No name contains “${sought}”. To find something that was deleted, enter its id.`;
}
