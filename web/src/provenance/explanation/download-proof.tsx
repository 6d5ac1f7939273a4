import { useMutation } from '@tanstack/react-query'
import { ApiError } from '../../api/api-error.ts'
import { server } from '../../api/server.ts'
import type { CellRef } from '../../state/view-state.ts'
import { Button } from '../../ui/button.tsx'
import { showError } from '../../ui/toasts.tsx'
import { fileName, saveFile } from '../../values/save-file.ts'

/** Downloads the proof that the log has the latest entry of a cell. */
export function DownloadProof({ cell }: { readonly cell: CellRef }) {
  const download = useMutation({
    mutationFn: () => proofOf(cell),
    onSuccess: (proof) => {
      const name = fileName(`proof ${cell.recordId} ${cell.field}`, 'json')
      saveFile(name, 'application/json', `${JSON.stringify(proof, null, 2)}\n`)
    },
    onError: showError,
  })
  return (
    <p className="origin-proof">
      <Button look="quiet" disabled={download.isPending} onClick={() => download.mutate()}>
        Download proof
      </Button>
      <a href="/verify" target="_blank" rel="noreferrer">
        Verify a proof
      </a>
    </p>
  )
}

/** Returns the proof of a cell, for which a checkpoint is made where none covers its entry. */
async function proofOf({ recordId, field }: CellRef): Promise<unknown> {
  const of = { record_id: recordId, field }
  try {
    return await server.log.proof(of)
  } catch (error) {
    if (!(error instanceof ApiError) || error.code !== 'unknown_checkpoint') throw error
    await server.log.makeCheckpoint()
    return server.log.proof(of)
  }
}
