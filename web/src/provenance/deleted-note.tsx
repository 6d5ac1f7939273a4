import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { Undo2 } from 'lucide-react'
import { permissionsQuery } from '../api/queries.ts'
import { restoreRecords } from '../editing/records/restore-records.ts'
import { useActor } from '../state/actor.ts'
import { useAsOf } from '../state/as-of.ts'
import { Button } from '../ui/button.tsx'

/** Shows that a record is deleted, with a button to restore it for actors that may delete. */
export function DeletedNote({ recordId }: { readonly recordId: string }) {
  const client = useQueryClient()
  const [actor] = useActor()
  const { data: permissions } = useQuery(permissionsQuery(actor))
  const isPast = useAsOf() !== null
  const restore = useMutation({ mutationFn: () => restoreRecords(client, { ids: [recordId], actor }) })
  if (isPast) return <p className="panel-note">The record did not exist at this moment.</p>
  return (
    <div className="panel-note deleted-note">
      <p>This record is deleted. The log keeps its last values and its history.</p>
      {permissions?.delete === true && (
        <Button
          icon={<Undo2 size={14} aria-hidden="true" />}
          disabled={restore.isPending}
          onClick={() => restore.mutate()}
        >
          Restore record
        </Button>
      )}
    </div>
  )
}
