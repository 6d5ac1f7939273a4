import type { SheetContract } from '../api/contract.ts'
import { DerivationText } from './derivation-text.tsx'
import { exampleDerivation } from './example-derivation.ts'

/** The empty state of a sheet without derivations, with an example file. */
export function NoDerivations({ contract }: { readonly contract: SheetContract }) {
  return (
    <div className="no-derivations">
      <h2>This sheet has no derivations</h2>
      <p>
        A derivation is a file that defines how fields are computed from other fields, for example by a call
        to an HTTP API. Each computed value is stored with the call that returned it.
      </p>
      <p>
        Add a file like this to the folder <code>derivations</code> of the sheet, next to{' '}
        <code>contract.yaml</code>, and adapt it to your fields. This page shows it as soon as you save it.
      </p>
      <DerivationText text={exampleDerivation(contract)} />
    </div>
  )
}
