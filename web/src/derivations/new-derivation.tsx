import { FilePen, Plus } from 'lucide-react'
import { useState } from 'react'
import type { SheetContract } from '../api/contract.ts'
import { useStored } from '../state/stored.ts'
import { Button } from '../ui/button.tsx'
import { drafts, newFilesOf } from './editor/drafts.ts'
import { NewDerivationDialog } from './editor/new-derivation-dialog.tsx'
import './new-derivation.css'

interface NewDerivationProps {
  readonly contract: SheetContract
  /** The files that exist. */
  readonly files: readonly string[]
  /** The file in the editor. */
  readonly edited: string | null
  readonly onEdit: (file: string) => void
}

/** The buttons that begin a new derivation, and that continue those which are not saved. */
export function NewDerivation({ contract, files, edited, onEdit }: NewDerivationProps) {
  const [isAsking, setIsAsking] = useState(false)
  const [stored] = useStored(drafts)
  const begun = newFilesOf(stored, contract.name).filter((file) => !files.includes(file))
  return (
    <div className="derivation-new">
      <Button icon={<Plus size={14} />} onClick={() => setIsAsking(true)}>
        New derivation…
      </Button>
      {begun
        .filter((file) => file !== edited)
        .map((file) => (
          <Button key={file} icon={<FilePen size={14} />} title="Not saved yet" onClick={() => onEdit(file)}>
            Continue {file}
          </Button>
        ))}
      {isAsking && (
        <NewDerivationDialog
          contract={contract}
          files={[...files, ...begun]}
          onClose={() => setIsAsking(false)}
          onBegun={(file) => {
            setIsAsking(false)
            onEdit(file)
          }}
        />
      )}
    </div>
  )
}
