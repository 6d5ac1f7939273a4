import { useQuery, useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { messageOf } from '../../api/api-error.ts'
import { derivationFileQuery, derivationsQuery } from '../../api/queries.ts'
import { server } from '../../api/server.ts'
import { useActor } from '../../state/actor.ts'
import { RemovalDialog } from '../../ui/removal-dialog.tsx'
import { showError, showSuccess } from '../../ui/toasts.tsx'
import { ChangeImpact } from './change-impact.tsx'

interface RemoveDialogProps {
  readonly file: string
  readonly onClose: () => void
  readonly onRemoved: () => void
}

/** Shows the effect of removing a derivation file, and removes it. */
export function RemoveDialog({ file, onClose, onRemoved }: RemoveDialogProps) {
  const client = useQueryClient()
  const [actor] = useActor()
  const [isRemoving, setIsRemoving] = useState(false)
  const [refused, setRefused] = useState<string | null>(null)
  const { data: derivations } = useQuery(derivationsQuery)
  // The effect is that on the file with this version, and only this one is removed.
  const { data: present, error: unread } = useQuery(derivationFileQuery(file))
  const { data: effect, error } = useQuery({
    queryKey: ['contract', 'removal', file, present?.version, actor],
    queryFn: ({ signal }) =>
      server.definition.remove(file, { dryRun: true, ifVersion: present?.version, actor, signal }),
    enabled: present !== undefined && !isRemoving,
    gcTime: 0,
  })
  const problem = error ?? unread
  const remove = async (): Promise<void> => {
    setIsRemoving(true)
    setRefused(null)
    try {
      const { change } = await server.definition.remove(file, { ifVersion: present?.version, actor })
      const undo = async (): Promise<void> => {
        try {
          await server.definition.revert(change ?? '', {}, { actor })
        } catch (thrown) {
          showError(thrown)
        }
      }
      showSuccess(`Removed ${file}`, { name: 'Undo', run: () => void undo() })
      onRemoved()
    } catch (thrown) {
      setRefused(messageOf(thrown))
      setIsRemoving(false)
    } finally {
      void client.invalidateQueries({ queryKey: ['contract'] })
    }
  }
  return (
    <RemovalDialog
      name={file}
      action="Remove"
      effect={
        effect === undefined || problem !== null ? null : (
          <ChangeImpact effect={effect} derivations={derivations?.derivations ?? []} />
        )
      }
      isReady={effect !== undefined && problem === null && !isRemoving}
      error={refused ?? (problem === null ? null : messageOf(problem))}
      onRemove={() => void remove()}
      onClose={onClose}
    />
  )
}
