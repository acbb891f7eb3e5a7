import { useQuery } from '@tanstack/react-query';
import { sluice } from '../api/client.ts';
import { useMe } from '../api/me.ts';
import { Choice } from '../ui/form.tsx';

/** The Application with whose rights code acts; empty for none. */
export function ApplicationChoice({ value, onValue }: { value: string; onValue: (id: string) => void }) {
  const { permissions } = useMe();
  const { data } = useQuery({
    queryKey: ['applications', 'for code'],
    queryFn: ({ signal }) => sluice.applications.list({ size: 100 }, { signal }).page(),
    enabled: permissions.includes('application:read'),
  });
  const known = (data?.data ?? []).filter(({ type }) => type !== 'management').map(({ id, name }) => [id, name]);
  const options: Record<string, string> = {
    '': 'None',
    ...(value && { [value]: value }),
    ...Object.fromEntries(known),
  };
  return (
    <Choice
      label="Application of the code"
      name="application.id"
      hint="In the code, req.svc has the permissions of this Application. Without an Application there is no req.svc."
      value={value}
      options={options}
      onValue={onValue}
    />
  );
}
