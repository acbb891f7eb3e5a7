import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { useMe } from '../api/me.ts';
import { type NamedKind, type NamedPage, type NamedRow, namedLists, useNames } from '../api/use-names.ts';
import { Combo, type ComboProps } from './combo.tsx';
import { useSettled } from './use-settled.ts';

interface PickerProps extends Pick<ComboProps, 'label' | 'placeholder' | 'hint' | 'member' | 'isFilter' | 'onValue'> {
  of: NamedKind;
  /** The id of what is chosen. */
  value: string | undefined;
  /** Whether this one may be chosen. Default: all. */
  suits?: (row: NamedRow) => boolean;
}

const pageSize = 20;
const uuid = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;
const count = new Intl.NumberFormat();

/** One thing of a kind, by a part of its name or by its id. It is searched by the service, so it finds all that there are. */
export function Picker({ of, value, suits = () => true, onValue, ...rest }: PickerProps) {
  const { permissions } = useMe();
  const { permission, list } = namedLists[of];
  const [typed, setTyped] = useState('');
  const [picked, setPicked] = useState<NamedRow>();
  const sought = useSettled(typed);
  const maySearch = permissions.includes(permission);
  const isId = uuid.test(sought);
  const { data, error, isFetching } = useQuery({
    queryKey: [of, 'to choose', sought],
    queryFn: ({ signal }): Promise<NamedPage> => {
      const wanted = isId ? { id: [sought.toLowerCase()] } : sought !== '' && { name: sought };
      return list.list({ ...wanted, size: pageSize }, { signal }).page();
    },
    enabled: maySearch,
    placeholderData: (former) => former,
  });
  const names = useNames(of, [value]);
  // The name is known from the list until it is read again
  const name = names.get(value ?? '') ?? (picked?.id === value ? picked?.name : undefined);
  const chosen = value === undefined ? undefined : { id: value, name: name ?? value };
  const page = maySearch ? (data?.data ?? []) : [];
  const found = page.filter(suits);
  // An id can be chosen even of something that is gone, or that the person may not see
  const byId = isId && page.length === 0 && !isFetching ? [{ id: sought.toLowerCase(), name: sought }] : [];
  const others = chosen && sought === '' && found.every(({ id }) => id !== chosen.id) ? [chosen] : [];
  return (
    <Combo
      {...rest}
      value={chosen}
      options={[...others, ...found, ...byId]}
      note={noteOf({ found: page.length, total: data?.pagination.total_items, maySearch, sought, isFetching, error })}
      onTyped={setTyped}
      onValue={(id) => {
        setPicked(found.find((row) => row.id === id));
        onValue(id);
      }}
    />
  );
}

interface Search {
  found: number;
  total: number | undefined;
  maySearch: boolean;
  sought: string;
  isFetching: boolean;
  error: Error | null;
}

function noteOf({ found, total = found, maySearch, sought, isFetching, error }: Search): string | undefined {
  if (!maySearch) return 'You may not see names. Enter an id.';
  if (error) return error.message;
  if (total > found) return `And ${count.format(total - found)} more. Type to narrow the list.`;
  if (found > 0) return undefined;
  if (isFetching) return 'Searching';
  return sought === '' ? 'There are none.' : `No name contains “${sought}”.`;
}
