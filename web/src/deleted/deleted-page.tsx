import {
  infiniteQueryOptions,
  useInfiniteQuery,
  useMutation,
  useQuery,
  useQueryClient,
} from '@tanstack/react-query'
import { Undo2 } from 'lucide-react'
import { useMemo, useState } from 'react'
import { Link } from 'wouter'
import type { DeletedAnswer } from '../../../src/wire/records/deleted.ts'
import { messageOf } from '../api/api-error.ts'
import type { SheetContract } from '../api/contract.ts'
import { permissionsQuery } from '../api/queries.ts'
import { server } from '../api/server.ts'
import { restoreRecords } from '../editing/records/restore-records.ts'
import { useActor } from '../state/actor.ts'
import { cellPath } from '../state/view-state.ts'
import { Button } from '../ui/button.tsx'
import { useCommands } from '../ui/command-menu.tsx'
import { countOf } from '../ui/format.ts'
import { Moment } from '../ui/moment.tsx'
import { Notice } from '../ui/notice.tsx'
import { CellValueView } from '../values/cell-value-view.tsx'
import './deleted-page.css'

type Deleted = DeletedAnswer['records'][number]

const RECORDS_AT_ONCE = 50

/** The pages of deleted records, the last deleted first. */
const deletedQuery = infiniteQueryOptions({
  queryKey: ['records', 'deleted'],
  queryFn: ({ pageParam, signal }) =>
    server.records.deleted({ limit: RECORDS_AT_ONCE, cursor: pageParam }, { signal }),
  initialPageParam: null as string | null,
  getNextPageParam: ({ next_cursor: next }) => next,
})

/** The page of deleted records, which can be restored. */
export default function DeletedPage({ contract }: { readonly contract: SheetContract }) {
  const client = useQueryClient()
  const [actor] = useActor()
  const { data: permissions } = useQuery(permissionsQuery(actor))
  const pages = useInfiniteQuery(deletedQuery)
  const [chosen, setChosen] = useState<ReadonlySet<string>>(new Set())
  const restore = useMutation({
    mutationFn: (ids: readonly string[]) => restoreRecords(client, { ids, actor }),
  })
  const records = pages.data?.pages.flatMap((page) => page.records)
  const restorable = (records ?? []).filter(({ exists }) => !exists).map(({ record_id: id }) => id)
  const ticked = restorable.filter((id) => chosen.has(id))
  const mayRestore = permissions?.delete === true && !restore.isPending
  const toggle = (ids: readonly string[]): void => {
    const isTicked = ids.every((id) => chosen.has(id))
    setChosen(new Set(isTicked ? [...chosen].filter((id) => !ids.includes(id)) : [...chosen, ...ids]))
  }
  useCommands(
    'deleted',
    useMemo(
      () =>
        mayRestore && ticked.length > 0
          ? [
              {
                group: 'Deleted records',
                name: `Restore ${countOf(ticked.length, 'record')}`,
                run: () => restore.mutate(ticked),
              },
            ]
          : [],
      // oxlint-disable-next-line react/exhaustive-deps -- The ids decide.
      [mayRestore, ticked.join(',')],
    ),
  )
  return (
    <section className="deleted-page" aria-label="Deleted records">
      <header className="deleted-head">
        <h1>Deleted records</h1>
        <Button
          look="primary"
          icon={<Undo2 size={15} aria-hidden="true" />}
          disabled={!mayRestore || ticked.length === 0}
          onClick={() => restore.mutate(ticked)}
        >
          {ticked.length === 0 ? 'Restore' : `Restore ${countOf(ticked.length, 'record')}`}
        </Button>
      </header>
      <div className="deleted-scroll" tabIndex={-1}>
        {pages.error !== null && records === undefined ? (
          <Notice
            kind="error"
            title="Cannot read the deleted records"
            actions={<Button onClick={() => void pages.refetch()}>Try again</Button>}
          >
            {messageOf(pages.error)}
          </Notice>
        ) : records === undefined ? (
          <div aria-busy="true" />
        ) : records.length === 0 ? (
          <Notice hasGhosts title="No deleted records">
            <p>Records that are deleted are listed here, and can be restored with their last values.</p>
          </Notice>
        ) : (
          <>
            {permissions?.delete === false && (
              <p className="deleted-note">The contract does not allow {actor} to restore records.</p>
            )}
            <table className="deleted-table">
              <caption className="visually-hidden">Deleted records, the last deleted first</caption>
              <thead>
                <tr>
                  <th>
                    <input
                      type="checkbox"
                      aria-label="All records"
                      disabled={restorable.length === 0}
                      checked={restorable.length > 0 && ticked.length === restorable.length}
                      ref={(box) => {
                        if (box !== null)
                          box.indeterminate = ticked.length > 0 && ticked.length < restorable.length
                      }}
                      onChange={() => toggle(restorable)}
                    />
                  </th>
                  <th scope="col">Record</th>
                  <th scope="col">Deleted</th>
                  <th scope="col">Last values</th>
                  <th scope="col">
                    <span className="visually-hidden">Restore</span>
                  </th>
                </tr>
              </thead>
              <tbody>
                {records.map((record) => (
                  <DeletedRow
                    key={record.seq}
                    contract={contract}
                    record={record}
                    isTicked={chosen.has(record.record_id)}
                    onTick={() => toggle([record.record_id])}
                    onRestore={mayRestore ? () => restore.mutate([record.record_id]) : null}
                  />
                ))}
              </tbody>
            </table>
            {pages.hasNextPage && (
              <Button disabled={pages.isFetchingNextPage} onClick={() => void pages.fetchNextPage()}>
                More
              </Button>
            )}
          </>
        )}
      </div>
    </section>
  )
}

interface DeletedRowProps {
  readonly contract: SheetContract
  readonly record: Deleted
  readonly isTicked: boolean
  readonly onTick: () => void
  /** Null where the actor may not restore. */
  readonly onRestore: (() => void) | null
}

function DeletedRow({ contract, record, isTicked, onTick, onRestore }: DeletedRowProps) {
  const { record_id: id, at, actor, exists, values } = record
  const fields = contract.fields.filter(
    ({ name, primaryKey }) => !primaryKey && (values[name] ?? null) !== null,
  )
  return (
    <tr aria-label={`Record ${id}`}>
      <td>
        {!exists && (
          <input type="checkbox" aria-label={`Record ${id}`} checked={isTicked} onChange={onTick} />
        )}
      </td>
      <th scope="row">
        <Link href={cellPath({ recordId: id, field: fields[0]?.name ?? 'id' })}>
          <code>{id}</code>
        </Link>
      </th>
      <td className="deleted-by">
        <Moment at={at} /> by <strong>{actor}</strong>
      </td>
      <td>
        <dl className="deleted-values">
          {fields.map(({ name, title, type }) => (
            <div key={name}>
              <dt>{title}</dt>
              <dd>
                <CellValueView type={type} value={values[name]} />
              </dd>
            </div>
          ))}
        </dl>
      </td>
      <td className="deleted-action">
        {exists ? (
          <span>Cannot be restored: a record with this id exists again.</span>
        ) : (
          <Button disabled={onRestore === null} onClick={() => onRestore?.()} aria-label={`Restore ${id}`}>
            Restore
          </Button>
        )}
      </td>
    </tr>
  )
}
