import { Button } from "@heroui/react";
import { useTranslation } from "../i18n";
import type { DialogProps } from "./DialogWindow";
import { lazyPart } from "./lazyPart";
import { OnDemand } from "./OnDemand";

/** Load what all dialogs need, so that the first one opens at once. */
export const loadDialogs = () => import("./DialogWindow");

const DialogWindow = lazyPart(async () => (await loadDialogs()).DialogWindow);

/** A dialog over the page: what it is about, its content, and its buttons. */
export function Dialog(props: DialogProps) {
  return (
    <OnDemand isWanted={props.isOpen}>
      <DialogWindow {...props} />
    </OnDemand>
  );
}

/** The buttons under a dialog that asks: leave it as it is, or do what it says. */
export function DialogButtons({
  onCancel,
  onConfirm,
  label,
  isDanger = false,
  isDisabled = false,
  isPending = false,
}: {
  onCancel: () => void;
  onConfirm: () => void;
  label: string;
  isDanger?: boolean;
  isDisabled?: boolean;
  isPending?: boolean;
}) {
  const { t } = useTranslation();
  return (
    <>
      <Button variant="tertiary" onPress={onCancel}>
        {t("action.cancel")}
      </Button>
      <Button
        variant={isDanger ? "danger" : "primary"}
        isDisabled={isDisabled}
        isPending={isPending}
        onPress={onConfirm}
      >
        {label}
      </Button>
    </>
  );
}
