import { ImageOff } from 'lucide-react'
import { useState } from 'react'
import { isAllowedImage } from './image-hosts.ts'

const DATA_IMAGE = /^data:image\/(?:png|jpeg|gif|webp|avif|svg\+xml)[;,]/i

/** Whether a text is an image that the policy of the page allows: one in a `data:` URL, or of an allowed host. */
export function isShownImage(text: string): boolean {
  return DATA_IMAGE.test(text) || isAllowedImage(text)
}

/** A thumbnail of an image, in a box that is there before the image is. */
export function ImageValue({ source }: { readonly source: string }) {
  const [failed, setFailed] = useState<string | null>(null)
  if (DATA_IMAGE.test(source))
    return (
      <span className="value image">
        <img src={source} alt="image" decoding="async" />
      </span>
    )
  if (failed === source)
    return (
      <span
        className="value image other failed"
        role="img"
        aria-label={`Cannot load the image ${source}`}
        title={`Cannot load the image\n${source}`}
      >
        <ImageOff size={16} aria-hidden="true" />
      </span>
    )
  return (
    <span className="value image other">
      <img
        // The element of another image would show it until this one is loaded.
        key={source}
        src={source}
        alt="image"
        title={source}
        decoding="async"
        loading="lazy"
        referrerPolicy="no-referrer"
        onError={() => setFailed(source)}
      />
    </span>
  )
}
