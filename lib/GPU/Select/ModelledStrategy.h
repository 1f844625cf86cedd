//===- ModelledStrategy.h - Schedules that a model chooses ------*- C++ -*-===//
//
// What a strategy's model chooses is a plain struct, in which fields that are
// given take the place of the model's. The attribute is made of the struct.
//
//===----------------------------------------------------------------------===//

#ifndef NM_LIB_GPU_SELECT_MODELLEDSTRATEGY_H
#define NM_LIB_GPU_SELECT_MODELLEDSTRATEGY_H

#include "GPU/Select/GpuProductCost.h"
#include "GPU/Select/GpuStrategy.h"

#include "nm/Dialect/NM/IR/ScheduleFields.h"

namespace mlir::nm {

/// What the model of `op` may do about rows of A that no column uses. Of tiles
/// that are given in part, checkLists says whether they leave rows out.
::nm::RowPacking getRowPacking(SparseProductOpInterface op,
                               const ::nm::GivenFields &given);

/// Checks that blocks of `schedule` that are to stage only the rows of A that
/// they use leave some out.
LogicalResult checkLists(SparseProductOpInterface op,
                         ScheduleAttrInterface schedule);

/// A strategy whose schedules are AttrTy.
template <typename AttrTy>
class ModelledStrategy : public GpuStrategy {
public:
  ::nm::Result<ScheduleChoice>
  choose(const ScheduleRequest &request) const override {
    ::nm::GivenFields given = getGivenFields(request.given);
    ::nm::Result<::nm::GpuSchedule> chosen = select(request, given);
    if (!chosen)
      return chosen.error();
    ScheduleChoice choice{*chosen,
                          makeAttribute(request, /*given=*/{}, *chosen)};
    if (!request.given)
      return choice;
    if (::nm::Status status = take(request, given, *chosen); !status)
      return status.error();
    AttrTy schedule = makeAttribute(request, given, *chosen);
    choice.isByModel = schedule == choice.schedule;
    if (schedule && failed(verifyGiven(request, schedule, *chosen)))
      schedule = {};
    choice.schedule = schedule;
    return choice;
  }

  ScheduleAttrInterface
  make(SparseProductOpInterface op,
       const ::nm::ScheduleFields &fields) const override {
    return getSchedule<AttrTy>([&] { return op->emitOpError(); },
                               op->getContext(), fields);
  }

  ScheduleAttrInterface
  completeGiven(const ScheduleRequest &request) const override {
    ::nm::GivenFields given = getGivenFields(request.given);
    const ::nm::ScheduleFields fields = getFields(request.given);
    ::nm::ScheduleFields whole = fields, completed = fields;
    complete(request, given, whole);
    setPadding(request, given, completed);
    completed.producerRegisters = whole.producerRegisters;
    completed.consumerRegisters = whole.consumerRegisters;
    completed.overlap = whole.overlap;
    if (statesPromotion())
      completed.promote = whole.promote;
    bool isWhole = completed.consumerRegisters == fields.consumerRegisters &&
                   completed.overlap == fields.overlap &&
                   completed.padA == fields.padA &&
                   completed.promote == fields.promote;
    return isWhole ? request.given : make(request.op, completed);
  }

protected:
  /// The best by estimate of those that what is given allows, or why there is
  /// none.
  virtual ::nm::Result<::nm::GpuSchedule>
  select(const ScheduleRequest &request,
         const ::nm::GivenFields &given) const = 0;

  /// Puts what is given in place of what was chosen, or says why that cannot
  /// be.
  virtual ::nm::Status take(const ScheduleRequest &request,
                            const ::nm::GivenFields &given,
                            ::nm::GpuSchedule &chosen) const {
    ::nm::takeGiven(given, chosen);
    return ::nm::Status::success();
  }

  /// Checks what was made of given fields, and emits an error.
  virtual LogicalResult verifyGiven(const ScheduleRequest &request,
                                    AttrTy schedule,
                                    const ::nm::GpuSchedule &fields) const {
    return success();
  }

  /// Whether `promote` is what the product's type and arithmetic ask for.
  virtual bool statesPromotion() const { return false; }

  /// Sets the fields that follow from others and from the op, where they are
  /// not given.
  virtual void complete(const ScheduleRequest &request,
                        const ::nm::GivenFields &given,
                        ::nm::ScheduleFields &fields) const {}

private:
  static void setPadding(const ScheduleRequest &request,
                         const ::nm::GivenFields &given,
                         ::nm::ScheduleFields &fields) {
    if (!given.padA)
      fields.padA =
          choosePadding(request.op, request.product,
                        std::max(fields.splits, fields.packing.splits));
  }

  /// Null, and an error at the op, for a schedule that does not verify.
  AttrTy makeAttribute(const ScheduleRequest &request,
                       const ::nm::GivenFields &given,
                       ::nm::ScheduleFields fields) const {
    complete(request, given, fields);
    setPadding(request, given, fields);
    return cast_if_present<AttrTy>(make(request.op, fields));
  }
};

} // namespace mlir::nm

#endif // NM_LIB_GPU_SELECT_MODELLEDSTRATEGY_H
