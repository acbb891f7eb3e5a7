import { TabLinks } from '../../ui/tabs.tsx';

export function ReactorTabs() {
  return (
    <TabLinks
      label="Reactors and formulas"
      tabs={[
        { name: 'Reactors', link: { to: '/reactors' } },
        { name: 'Formulas', link: { to: '/reactors/formulas' } },
      ]}
    />
  );
}
