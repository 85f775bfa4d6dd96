import { Modal } from "@heroui/react";
import { useEffect, type ReactNode } from "react";
import { useTranslation } from "../i18n";

export interface DialogProps {
  isOpen: boolean;
  onClose: () => void;
  title: string;
  lead?: ReactNode;
  children?: ReactNode;
  footer?: ReactNode;
  width?: string;
  /** Whether only its buttons close it. */
  isFirm?: boolean;
}

/** The window of a dialog. */
export function DialogWindow({
  isOpen,
  onClose,
  title,
  lead,
  children,
  footer,
  width = "max-w-lg",
  isFirm = false,
}: DialogProps) {
  const { t } = useTranslation();
  // A button that had the focus and is gone takes the keyboard out of the dialog.
  useEffect(() => {
    if (!isOpen || isFirm) return;
    const closeOnEscape = (event: KeyboardEvent) =>
      event.key === "Escape" && document.activeElement === document.body && onClose();
    window.addEventListener("keydown", closeOnEscape);
    return () => window.removeEventListener("keydown", closeOnEscape);
  }, [isOpen, isFirm, onClose]);
  return (
    <Modal.Backdrop
      isOpen={isOpen}
      isDismissable={!isFirm}
      isKeyboardDismissDisabled={isFirm}
      onOpenChange={(isNowOpen) => !isNowOpen && onClose()}
    >
      <Modal.Container placement="center" scroll="inside" className="sm:p-6">
        <Modal.Dialog className={`${width} text-foreground w-full sm:min-w-[26rem]`}>
          {!isFirm && <Modal.CloseTrigger aria-label={t("action.close")} />}
          <Modal.Header>
            <Modal.Heading className="pe-8 text-lg font-semibold">{title}</Modal.Heading>
            {lead !== undefined && <div className="text-muted -mt-1 leading-relaxed">{lead}</div>}
          </Modal.Header>
          <Modal.Body className="text-foreground">{children}</Modal.Body>
          {footer !== undefined && <Modal.Footer className="flex-wrap">{footer}</Modal.Footer>}
        </Modal.Dialog>
      </Modal.Container>
    </Modal.Backdrop>
  );
}
