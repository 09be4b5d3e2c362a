"""Cases from scikit-learn, LightGBM and XGBoost."""
