import type { Member } from '@sluice/sdk';
import { useQuery } from '@tanstack/react-query';
import { sluice } from '../../api/client.ts';
import { useGiving } from '../../api/giving.ts';
import { useMe } from '../../api/me.ts';
import { personName } from './roles.ts';

/** All members; undefined until they are read, and for a person who may not see them. */
export function useMembers(): readonly Member[] | undefined {
  const { permissions } = useMe();
  const { data } = useQuery({
    queryKey: ['members', 'names'],
    queryFn: ({ signal }) => sluice.members.list({ size: 100 }, { signal }).toArray(),
    enabled: permissions.includes('tenant:member:read'),
  });
  return data;
}

/** Names by id: of the person who is signed in, and of all members if that person may see them. */
export function usePeople(): ReadonlyMap<string, string> {
  const { user } = useMe();
  const people = [...(user ? [{ user }] : []), ...(useMembers() ?? [])];
  return new Map(people.map((person) => [person.user.id, personName(person)]));
}

/** Why the role of a member cannot be changed, and the member not removed. */
export function useMemberRefusal({ id, role }: Member): string | undefined {
  const giving = useGiving();
  const others = useMembers()?.filter((member) => member.role === 'OWNER' && member.id !== id);
  const isLastOwner = role === 'OWNER' && others?.length === 0;
  return (
    giving.ofRole(role) ??
    (isLastOwner ? 'A Tenant needs at least one Owner. Make another member Owner first.' : undefined)
  );
}
