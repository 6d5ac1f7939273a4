import { useQuery } from '@tanstack/react-query'
import { Search } from 'lucide-react'
import { Tabs } from 'radix-ui'
import { useMemo, useState } from 'react'
import { useSearchParams } from 'wouter'
import type { SheetContract, SheetField } from '../api/contract.ts'
import { pageQuery } from '../api/queries.ts'
import { DerivationText } from '../derivations/derivation-text.tsx'
import { readView, writeView } from '../state/view-state.ts'
import { Button } from '../ui/button.tsx'
import { countOf } from '../ui/format.ts'
import '../ui/form.css'
import { Notice } from '../ui/notice.tsx'
import { Changes } from './changes.tsx'
import './contract-page.css'
import { FieldsTable } from './fields-table.tsx'
import { searchFields } from './search-fields.ts'
import { joinNames } from './constraint-text.ts'
import { deletersOf } from './deleters.ts'
import { toYaml } from './to-yaml.ts'

/** The page with the fields of the contract, their constraints and writers, and the contract as YAML. */
export default function ContractPage({ contract }: { readonly contract: SheetContract }) {
  const { name, description, fields, document } = contract
  const text = useMemo(() => toYaml(document), [document])
  const deleters = deletersOf(document)
  const [params, setParams] = useSearchParams()
  return (
    <div className="contract-page">
      <header>
        <h1>{name}</h1>
        {description !== null && <p>{description}</p>}
        <p>
          {countOf(fields.length, 'field')}, {fields.filter(({ derived }) => derived !== null).length} of them
          derived. Records may be deleted by {deleters === null ? 'anybody' : joinNames(deleters) || 'nobody'}
          .
        </p>
      </header>
      <Tabs.Root
        value={params.get('tab') ?? 'fields'}
        onValueChange={(tab) => setParams(tab === 'fields' ? {} : { tab }, { replace: true })}
      >
        <Tabs.List className="contract-tabs" aria-label="View">
          <Tabs.Trigger value="fields">Fields</Tabs.Trigger>
          <Tabs.Trigger value="document">Document</Tabs.Trigger>
          <Tabs.Trigger value="changes">Changes</Tabs.Trigger>
        </Tabs.List>
        <Tabs.Content value="fields" tabIndex={-1}>
          <Fields contract={contract} />
        </Tabs.Content>
        <Tabs.Content value="document" tabIndex={-1}>
          <p className="contract-hint">
            The contract with all defaults filled in. To change it, use the menus of the columns, or edit{' '}
            <code>contract.yaml</code>.
          </p>
          <DerivationText text={text} />
        </Tabs.Content>
        <Tabs.Content value="changes" tabIndex={-1}>
          <Changes />
        </Tabs.Content>
      </Tabs.Root>
    </div>
  )
}

function Fields({ contract }: { readonly contract: SheetContract }) {
  const [search, setSearch] = useState('')
  const found = searchFields(contract.fields, search)
  const hrefOf = useColumnHref()
  return (
    <>
      <div className="contract-search">
        <Search size={15} aria-hidden="true" />
        <input
          className="input"
          type="search"
          aria-label="Search fields"
          placeholder="Search fields"
          value={search}
          onChange={(event) => setSearch(event.currentTarget.value)}
        />
        <span role="status">{search.trim() !== '' && countOf(found.length, 'field')}</span>
      </div>
      {found.length === 0 ? (
        <Notice
          title="No matching field"
          actions={<Button onClick={() => setSearch('')}>Show all fields</Button>}
        >
          The search covers names, types, constraints, descriptions and derivations.
        </Notice>
      ) : (
        <FieldsTable fields={found} hrefOf={hrefOf} />
      )}
    </>
  )
}

/** Returns the URL that shows a column: it selects the first cell, which scrolls it into view. */
function useColumnHref(): (field: SheetField) => string {
  const { data } = useQuery(pageQuery({ filter: null, sort: null }, 0))
  const first = data?.records[0]?.['id']
  return ({ name }) => {
    if (typeof first !== 'string') return '/'
    const view = { ...readView(new URLSearchParams()), cell: { recordId: first, field: name } }
    return `/?${writeView(view).toString()}`
  }
}
